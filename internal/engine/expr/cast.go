package expr

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// cast compiles CAST, CONVERT and their TRY_ forms.
func (c *Compiler) cast(x ast.ScalarExpression, ref ast.DataTypeReference, style ast.ScalarExpression, coll *ast.Identifier, try bool) (Expr, error) {
	t, err := c.DataType(ref, true)
	if err != nil {
		return Expr{}, err
	}
	e, err := c.Scalar(x)
	if err != nil {
		return Expr{}, err
	}
	if t.Kind.IsString() {
		t.Coll = e.Type.Coll
	}
	if err := types.CheckConversion(e.Type, t, true); err != nil {
		return Expr{}, err
	}
	ev := e.Eval
	out := Expr{Type: t, Nullable: e.Nullable || try, coll: e.coll}
	switch {
	case style != nil:
		s, err := c.Scalar(style)
		if err != nil {
			return Expr{}, err
		}
		if s, err = Cast(s, types.Int, false); err != nil {
			return Expr{}, err
		}
		sv := s.Eval
		out.Nullable = out.Nullable || s.Nullable
		out.Eval = func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			if err != nil {
				return v, err
			}
			st, err := sv(f)
			if err != nil || st.IsNull() {
				return types.Value{}, err
			}
			return types.Convert(v, t, int(st.Int()))
		}
		if try {
			out.Eval = tried(out.Eval)
		}
		out = fold(out, e, s)
	default:
		out.Eval = func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			if err != nil {
				return v, err
			}
			return types.Convert(v, t, 0)
		}
		if try {
			out.Eval = tried(out.Eval)
		}
		out = fold(out, e)
	}
	return collated(out, coll)
}

// tried turns the errors of a conversion into NULL. 529 stays one.
func tried(ev func(*Frame) (types.Value, error)) func(*Frame) (types.Value, error) {
	return func(f *Frame) (types.Value, error) {
		v, err := ev(f)
		if n := sqlerr.Number(err); n != 0 && n != 529 && n != 40514 && n != 281 {
			return types.Value{}, nil
		}
		return v, err
	}
}

// Cast converts an expression to a type: implicitly, as an assignment does,
// unless explicit is set. It refuses what SQL Server refuses at compile time:
// 206, 257, 529.
func Cast(e Expr, to types.Type, explicit bool) (Expr, error) {
	if err := types.CheckConversion(e.Type, to, explicit); err != nil {
		return Expr{}, err
	}
	return convertTo(e, to, explicit), nil
}

func convertTo(e Expr, to types.Type, explicit bool) Expr {
	if sameAtRun(e.Type, to) {
		e.Type = to
		return e
	}
	conv := func(v types.Value) (types.Value, error) { return types.Assign(v, to) }
	if explicit {
		conv = func(v types.Value) (types.Value, error) { return types.Convert(v, to, 0) }
	}
	ev := e.Eval
	return fold(Expr{Type: to, Name: e.Name, Nullable: e.Nullable, coll: e.coll, Eval: func(f *Frame) (types.Value, error) {
		v, err := ev(f)
		if err != nil || v.IsNull() {
			return v, err
		}
		return conv(v)
	}}, e)
}

// sameAtRun reports whether every value of one type is one of the other as it is.
func sameAtRun(from, to types.Type) bool {
	if from.Kind != to.Kind {
		return from.Kind == types.KindNull
	}
	switch from.Kind {
	case types.KindVarChar, types.KindNVarChar, types.KindVarBinary:
		return to.Len == types.Max || (from.Len != types.Max && from.Len <= to.Len)
	case types.KindChar, types.KindNChar, types.KindBinary:
		return from.Len == to.Len
	case types.KindDecimal:
		return from.Scale == to.Scale && from.Prec <= to.Prec
	case types.KindTime, types.KindDateTime2, types.KindDateTimeOffset:
		return from.Scale == to.Scale
	}
	return true
}
