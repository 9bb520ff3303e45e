package expr

import (
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// comparison is what each outcome of a comparison means: less, equal, greater.
type comparison [3]bool

var comparisons = map[string]comparison{
	"Equals":                {false, true, false},
	"NotEqualToBrackets":    {true, false, true},
	"NotEqualToExclamation": {true, false, true},
	"LessThan":              {true, false, false},
	"LessThanOrEqualTo":     {true, true, false},
	"NotGreaterThan":        {true, true, false},
	"GreaterThan":           {false, false, true},
	"GreaterThanOrEqualTo":  {false, true, true},
	"NotLessThan":           {false, true, true},
}

var comparisonNames = map[string]string{
	"Equals": "equal to", "NotEqualToBrackets": "not equal to", "NotEqualToExclamation": "not equal to",
	"LessThan": "less than", "LessThanOrEqualTo": "less than or equal to", "NotGreaterThan": "less than or equal to",
	"GreaterThan": "greater than", "GreaterThanOrEqualTo": "greater than or equal to", "NotLessThan": "greater than or equal to",
}

func (c comparison) of(order int) Tri {
	if c[order+1] {
		return True
	}
	return False
}

// Compare compiles a comparison of two expressions; op is one of the names of
// ast.BooleanComparisonExpression.ComparisonType, such as Equals. Errors: 206,
// 306, 402, 468.
func Compare(op string, a, b Expr) (Pred, error) {
	cmp, ok := comparisons[op]
	if !ok {
		return nil, sqlerr.Unsupported("comparison " + op)
	}
	a, b, coll, err := comparable(a, b, comparisonNames[op])
	if err != nil {
		return nil, err
	}
	if op == "Equals" && a.Type.Kind == b.Type.Kind && (a.Type.Kind.IsInt() || a.Type.Kind.IsMoney()) {
		return equalInt(a.Eval, b), nil
	}
	x, y := a.Eval, b.Eval
	return func(f *Frame) (Tri, error) {
		v, err := x(f)
		if err != nil {
			return Unknown, err
		}
		w, err := y(f)
		if err != nil {
			return Unknown, err
		}
		if v.IsNull() || w.IsNull() {
			return Unknown, nil
		}
		return cmp.of(types.CompareColl(v, w, coll)), nil
	}, nil
}

// equalInt is the fast path of keys.
func equalInt(x evalFunc, b Expr) Pred {
	if b.Const && !b.Value.IsNull() {
		n := b.Value.Int()
		return func(f *Frame) (Tri, error) {
			v, err := x(f)
			switch {
			case err != nil:
				return Unknown, err
			case v.IsNull():
				return Unknown, nil
			case v.Int() == n:
				return True, nil
			}
			return False, nil
		}
	}
	y := b.Eval
	return func(f *Frame) (Tri, error) {
		v, err := x(f)
		if err != nil {
			return Unknown, err
		}
		w, err := y(f)
		switch {
		case err != nil:
			return Unknown, err
		case v.IsNull() || w.IsNull():
			return Unknown, nil
		case v.Int() == w.Int():
			return True, nil
		}
		return False, nil
	}
}

// comparable brings two expressions to where types.CompareColl can compare
// their values, and finds the collation.
func comparable(a, b Expr, op string) (Expr, Expr, types.Collation, error) {
	for _, k := range [2]types.Kind{a.Type.Kind, b.Type.Kind} {
		if k == types.KindText || k == types.KindNText || k == types.KindImage {
			return a, b, 0, sqlerr.IncompatibleOperands(a.Type.Name(), b.Type.Name(), op)
		}
	}
	if a.Type.Kind == types.KindNull || b.Type.Kind == types.KindNull {
		return a, b, 0, nil
	}
	t, err := types.CommonType(a.Type, b.Type)
	if err != nil {
		return a, b, 0, err
	}
	var coll types.Collation
	if a.Type.Kind.IsString() && b.Type.Kind.IsString() {
		if coll, _, err = commonCollation(a, b, op); err != nil {
			return a, b, 0, err
		}
	}
	for _, e := range [2]*Expr{&a, &b} {
		if types.SameClass(e.Type.Kind, t.Kind) || t.Kind == types.KindSQLVariant {
			continue
		}
		if *e, err = Cast(*e, t, false); err != nil {
			return a, b, 0, err
		}
	}
	return a, b, coll, nil
}
