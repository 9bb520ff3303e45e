package types

import (
	"fmt"
	"strings"

	"gostress/internal/engine/sqlerr"
)

// Max is the Len of varchar(max), nvarchar(max) and varbinary(max).
const Max = -1

// maxPrec is the largest precision of a decimal.
const maxPrec = 38

// Type is a data type. Types can be compared with ==.
type Type struct {
	Kind  Kind
	Len   int32 // char kinds: UTF-16 units for n*, else bytes; Max; 0 where a length means nothing
	Prec  uint8 // decimal
	Scale uint8 // decimal, time, datetime2, datetimeoffset
	Coll  Collation
}

// The types without parameters.
var (
	Null             = Type{}
	Bit              = Type{Kind: KindBit}
	TinyInt          = Type{Kind: KindTinyInt}
	SmallInt         = Type{Kind: KindSmallInt}
	Int              = Type{Kind: KindInt}
	BigInt           = Type{Kind: KindBigInt}
	Money            = Type{Kind: KindMoney}
	SmallMoney       = Type{Kind: KindSmallMoney}
	Float            = Type{Kind: KindFloat}
	Real             = Type{Kind: KindReal}
	Date             = Type{Kind: KindDate}
	DateTime         = Type{Kind: KindDateTime}
	SmallDateTime    = Type{Kind: KindSmallDateTime}
	UniqueIdentifier = Type{Kind: KindUniqueIdentifier}
	SQLVariant       = Type{Kind: KindSQLVariant}
	Sysname          = Type{Kind: KindNVarChar, Len: 128}
)

// Decimal is decimal(prec, scale).
func Decimal(prec, scale int) Type {
	return Type{Kind: KindDecimal, Prec: uint8(prec), Scale: uint8(scale)}
}

// Char is char(n), VarChar varchar(n), and so on; n may be Max for the var kinds.
func Char(n int) Type      { return Type{Kind: KindChar, Len: int32(n)} }
func VarChar(n int) Type   { return Type{Kind: KindVarChar, Len: int32(n)} }
func NChar(n int) Type     { return Type{Kind: KindNChar, Len: int32(n)} }
func NVarChar(n int) Type  { return Type{Kind: KindNVarChar, Len: int32(n)} }
func Binary(n int) Type    { return Type{Kind: KindBinary, Len: int32(n)} }
func VarBinary(n int) Type { return Type{Kind: KindVarBinary, Len: int32(n)} }

// Time is time(scale), DateTime2 datetime2(scale), DateTimeOffset datetimeoffset(scale).
func Time(scale int) Type           { return Type{Kind: KindTime, Scale: uint8(scale)} }
func DateTime2(scale int) Type      { return Type{Kind: KindDateTime2, Scale: uint8(scale)} }
func DateTimeOffset(scale int) Type { return Type{Kind: KindDateTimeOffset, Scale: uint8(scale)} }

// Name is the type's name without length, precision or scale.
func (t Type) Name() string { return t.Kind.String() }

// errName is how error messages call the type: decimal is numeric there.
func (t Type) errName() string {
	if t.Kind == KindDecimal {
		return "numeric"
	}
	return t.Kind.String()
}

// String spells the type as a declaration does: nvarchar(25), decimal(18,2).
func (t Type) String() string {
	switch t.Kind {
	case KindChar, KindVarChar, KindNChar, KindNVarChar, KindBinary, KindVarBinary:
		if t.Len == Max {
			return t.Name() + "(max)"
		}
		return fmt.Sprintf("%s(%d)", t.Name(), t.Len)
	case KindDecimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Prec, t.Scale)
	case KindTime, KindDateTime2, KindDateTimeOffset:
		return fmt.Sprintf("%s(%d)", t.Name(), t.Scale)
	}
	return t.Name()
}

// MaxLength is sys.columns.max_length: bytes, -1 for the max types.
func (t Type) MaxLength() int16 {
	switch t.Kind {
	case KindBit, KindTinyInt:
		return 1
	case KindSmallInt:
		return 2
	case KindInt, KindReal, KindSmallMoney, KindSmallDateTime:
		return 4
	case KindBigInt, KindFloat, KindMoney, KindDateTime:
		return 8
	case KindDecimal:
		switch {
		case t.Prec <= 9:
			return 5
		case t.Prec <= 19:
			return 9
		case t.Prec <= 28:
			return 13
		}
		return 17
	case KindDate:
		return 3
	case KindTime:
		return 3 + scaleBytes(t.Scale)
	case KindDateTime2:
		return 6 + scaleBytes(t.Scale)
	case KindDateTimeOffset:
		return 8 + scaleBytes(t.Scale)
	case KindText, KindNText, KindImage, KindUniqueIdentifier:
		return 16
	case KindNChar, KindNVarChar:
		if t.Len == Max {
			return -1
		}
		return int16(t.Len * 2)
	case KindChar, KindVarChar, KindBinary, KindVarBinary:
		return int16(t.Len)
	case KindSQLVariant:
		return 8016
	}
	return 0
}

func scaleBytes(scale uint8) int16 {
	switch {
	case scale <= 2:
		return 0
	case scale <= 4:
		return 1
	}
	return 2
}

// maxLen is the longest explicit length of a kind, 0 for kinds without one.
func maxLen(k Kind) int {
	switch k {
	case KindChar, KindVarChar, KindBinary, KindVarBinary:
		return 8000
	case KindNChar, KindNVarChar:
		return 4000
	}
	return 0
}

var typeNames = map[string]Type{
	"bit": Bit, "tinyint": TinyInt, "smallint": SmallInt, "int": Int, "integer": Int, "bigint": BigInt,
	"decimal": Decimal(18, 0), "numeric": Decimal(18, 0), "dec": Decimal(18, 0),
	"money": Money, "smallmoney": SmallMoney, "float": Float, "real": Real, "double precision": Float,
	"char": Char(1), "character": Char(1), "varchar": VarChar(1), "char varying": VarChar(1), "character varying": VarChar(1),
	"nchar": NChar(1), "national char": NChar(1), "national character": NChar(1),
	"nvarchar": NVarChar(1), "national char varying": NVarChar(1), "national character varying": NVarChar(1),
	"text": {Kind: KindText}, "ntext": {Kind: KindNText}, "national text": {Kind: KindNText},
	"binary": Binary(1), "varbinary": VarBinary(1), "binary varying": VarBinary(1), "image": {Kind: KindImage},
	"date": Date, "time": Time(7), "datetime2": DateTime2(7), "datetimeoffset": DateTimeOffset(7),
	"datetime": DateTime, "smalldatetime": SmallDateTime,
	"uniqueidentifier": UniqueIdentifier, "sysname": Sysname, "sql_variant": SQLVariant,
}

// knownUnsupported are system types of SQL Server that the engine has not.
var knownUnsupported = map[string]bool{
	"xml": true, "geometry": true, "geography": true, "hierarchyid": true, "timestamp": true,
	"rowversion": true, "cursor": true, "json": true, "vector": true,
}

// ParseTypeName turns a system type's name (in any case, also with a sys.
// prefix) and the numbers in its parentheses into a Type; Max stands for the
// word max. Without numbers the lengths are those of a declaration: 1 for
// char kinds (CAST's 30 is the caller's affair), decimal(18,0), datetime2(7).
// An unknown name is error 2715 with ordinal 1; the caller may know better.
func ParseTypeName(name string, args []int) (Type, error) {
	key := strings.ToLower(strings.Join(strings.Fields(name), " "))
	key = strings.TrimPrefix(key, "sys.")
	t, ok := typeNames[key]
	if !ok {
		if knownUnsupported[key] {
			return Null, sqlerr.Unsupported("data type " + key)
		}
		return Null, sqlerr.UnknownType(1, name)
	}
	if len(args) == 0 {
		return t, nil
	}
	if err := t.setArgs(key, args); err != nil {
		return Null, err
	}
	return t, nil
}

func (t *Type) setArgs(name string, args []int) error {
	noArgs := len(args) > 1
	switch t.Kind {
	case KindDecimal:
		noArgs = len(args) > 2
	case KindFloat, KindTime, KindDateTime2, KindDateTimeOffset:
	default:
		if maxLen(t.Kind) == 0 || name == "sysname" {
			noArgs = true
		}
	}
	if noArgs {
		return sqlerr.New(2716, 16, 1, "Column, parameter or variable #1: data type %s cannot be given this length, precision or scale.", name)
	}
	n := args[0]
	switch t.Kind {
	case KindDecimal:
		s := 0
		if len(args) == 2 {
			s = args[1]
		}
		if n < 1 || n > maxPrec {
			return sqlerr.New(2750, 16, 1, "Column or parameter #1: precision %d is given, but %d is the largest allowed.", n, maxPrec)
		}
		if s < 0 || s > n {
			return sqlerr.New(192, 15, 1, "The scale must not be larger than the precision.")
		}
		t.Prec, t.Scale = uint8(n), uint8(s)
	case KindFloat:
		if n < 1 || n > 53 {
			return sqlerr.New(2750, 16, 1, "Column or parameter #1: precision %d is given, but %d is the largest allowed.", n, 53)
		}
		if n <= 24 {
			*t = Real
		}
	case KindTime, KindDateTime2, KindDateTimeOffset:
		if n < 0 || n > 7 {
			return sqlerr.New(1002, 16, 1, "Line 0: scale %d is not valid.", n)
		}
		t.Scale = uint8(n)
	default:
		limit := maxLen(t.Kind)
		variable := t.Kind == KindVarChar || t.Kind == KindNVarChar || t.Kind == KindVarBinary
		if n == Max && variable {
			t.Len = Max
			return nil
		}
		if n < 1 || n > limit {
			return sqlerr.New(131, 15, 3, "The size (%d) given to the type '%s' exceeds the largest allowed for any data type (%d).", n, name, limit)
		}
		t.Len = int32(n)
	}
	return nil
}
