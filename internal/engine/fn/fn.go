// Package fn has the built-in scalar functions that need no session: strings,
// dates, mathematics, and what is left over.
package fn

import (
	"strings"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Func is a built-in function.
type Func struct {
	Name             string
	MinArgs, MaxArgs int // MaxArgs -1 = any number
	// Part tells that the first argument is a datepart: the text names it, Eval
	// gets it as an int (see ParsePart).
	Part bool
	// Cut tells that Eval may give text longer than Type says, and that the rest
	// is to be cut off without an error.
	Cut bool
	// Deterministic functions give the same for the same arguments.
	Deterministic bool
	// Type is the type of the result for arguments of these types. Errors: 8116.
	Type func(args []types.Type) (types.Type, error)
	// Eval computes the result. It keeps none of args.
	Eval func(args []types.Value) (types.Value, error)
}

// Lookup finds a function by name, in any case.
func Lookup(name string) (*Func, bool) {
	f, ok := functions[name]
	if !ok {
		f, ok = functions[strings.ToUpper(name)]
	}
	return f, ok
}

var functions = index(stringFunctions, searchFunctions, mathFunctions, dateFunctions, otherFunctions)

func index(lists ...[]Func) map[string]*Func {
	m := map[string]*Func{}
	for _, l := range lists {
		for i := range l {
			m[l[i].Name] = &l[i]
		}
	}
	return m
}

// fixedType is a Func.Type that does not depend on the arguments.
func fixedType(t types.Type) func([]types.Type) (types.Type, error) {
	return func([]types.Type) (types.Type, error) { return t, nil }
}

// text is an argument as text. Numbers become text as they do implicitly.
func text(v types.Value) (string, error) {
	if v.Kind().IsString() {
		return v.Str(), nil
	}
	c, err := types.Convert(v, types.NVarChar(types.Max), 0)
	return c.Str(), err
}

// integer is an argument as a whole number.
func integer(v types.Value) (int64, error) {
	if v.Kind().IsInt() {
		return v.Int(), nil
	}
	c, err := types.Assign(v, types.BigInt)
	return c.Int(), err
}

// float is an argument as a float.
func float(v types.Value) (float64, error) {
	if v.Kind().IsFloat() {
		return v.Float(), nil
	}
	c, err := types.Assign(v, types.Float)
	return c.Float(), err
}

func anyNull(args []types.Value) bool {
	for _, a := range args {
		if a.IsNull() {
			return true
		}
	}
	return false
}

// strict makes NULL of any NULL argument.
func strict(eval func([]types.Value) (types.Value, error)) func([]types.Value) (types.Value, error) {
	return func(args []types.Value) (types.Value, error) {
		if anyNull(args) {
			return types.Value{}, nil
		}
		return eval(args)
	}
}

// isText reports what text functions take without complaint.
func isText(t types.Type) bool {
	return t.Kind.IsString() || t.Kind.IsNumeric() || t.Kind.IsTemporal() || t.Kind.IsBinary() ||
		t.Kind == types.KindNull || t.Kind == types.KindUniqueIdentifier
}

// varText is the variable type of text functions: nvarchar for national text,
// varchar for all else, as long as the argument.
func varText(t types.Type) types.Type {
	k := types.KindVarChar
	limit := int32(8000)
	if t.Kind.IsUnicode() {
		k, limit = types.KindNVarChar, 4000
	}
	n := t.Len
	switch {
	case t.Kind == types.KindText || t.Kind == types.KindNText || n == types.Max:
		n = types.Max
	case !t.Kind.IsString() && !t.Kind.IsBinary() || n <= 0:
		n = min(limit, 8000)
	}
	return types.Type{Kind: k, Len: n, Coll: t.Coll}
}

func argType(args []types.Type, i int, name string) error {
	if !isText(args[i]) {
		return sqlerr.ArgumentType(args[i].Name(), i+1, name)
	}
	return nil
}

// stringKind is the kind of a text result: that of the argument, made variable.
func stringKind(v types.Value) types.Kind {
	if v.Kind().IsUnicode() {
		return types.KindNVarChar
	}
	return types.KindVarChar
}
