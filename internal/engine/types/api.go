package types

const (
	maxPrec        = 38
	ticks300PerDay = 24 * 60 * 60 * 300
)

// Op is a binary operator of values.
type Op uint8

// The operators.
const (
	OpAdd Op = iota
	OpSub
	OpMul
	OpDiv
	OpMod
	OpBitAnd
	OpBitOr
	OpBitXor
)

func Convert(v Value, to Type, style int) (Value, error)                 { return v, nil }
func Assign(v Value, to Type) (Value, error)                             { return v, nil }
func AssignColumn(v Value, to Type, table, column string) (Value, error) { return v, nil }
func Compare(a, b Value) int                                             { return 0 }
func CompareColl(a, b Value, c Collation) int                            { return 0 }
func CommonType(a, b Type) (Type, error)                                 { return a, nil }
func ArithType(op Op, a, b Type) (Type, error)                           { return a, nil }
func Arith(op Op, t Type, a, b Value) (Value, error)                     { return a, nil }
func Hash(v Value) uint64                                                { return 0 }
func Format(v Value) string                                              { return "" }
