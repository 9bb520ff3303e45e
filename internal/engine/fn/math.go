package fn

import (
	"math"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

var mathFunctions = []Func{
	{Name: "ABS", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: numberType("abs"), Eval: numeric(evalAbs)},
	{Name: "SIGN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: numberType("sign"), Eval: numeric(evalSign)},
	{Name: "CEILING", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: wholeType("ceiling"), Eval: numeric(evalCeiling)},
	{Name: "FLOOR", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: wholeType("floor"), Eval: numeric(evalFloor)},
	{Name: "ROUND", MinArgs: 2, MaxArgs: 3, Deterministic: true, Type: numberType("round"), Eval: strict(evalRound)},
	{Name: "POWER", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: numberType("power"), Eval: strict(evalPower)},
	{Name: "SQRT", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Sqrt)},
	{Name: "SQUARE", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(func(x float64) float64 { return x * x })},
	{Name: "EXP", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Exp)},
	{Name: "LOG", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: fixedType(types.Float), Eval: strict(evalLog)},
	{Name: "LOG10", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(positive(math.Log10))},
	{Name: "PI", MinArgs: 0, MaxArgs: 0, Deterministic: true, Type: fixedType(types.Float),
		Eval: func([]types.Value) (types.Value, error) { return types.NewFloat(math.Pi), nil }},
	{Name: "SIN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Sin)},
	{Name: "COS", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Cos)},
	{Name: "TAN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Tan)},
	{Name: "COT", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(func(x float64) float64 { return 1 / math.Tan(x) })},
	{Name: "ASIN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Asin)},
	{Name: "ACOS", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Acos)},
	{Name: "ATAN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Float), Eval: floats(math.Atan)},
	{Name: "ATN2", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: fixedType(types.Float), Eval: strict(evalAtn2)},
	{Name: "DEGREES", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: numberType("degrees"), Eval: scaled(180 / math.Pi)},
	{Name: "RADIANS", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: numberType("radians"), Eval: scaled(math.Pi / 180)},
}

// numberType is the type of functions that keep their argument's type: small
// integers widen to int, text is taken for float. Error: 8116.
func numberType(name string) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		switch t := args[0]; {
		case t.Kind == types.KindBigInt, t.Kind == types.KindMoney, t.Kind == types.KindDecimal:
			if t.Kind == types.KindDecimal {
				return types.Decimal(38, int(t.Scale)), nil
			}
			return t, nil
		case t.Kind == types.KindBit, t.Kind.IsFloat(), t.Kind.IsString(), t.Kind == types.KindNull:
			return types.Float, nil
		case t.Kind.IsInt():
			return types.Int, nil
		case t.Kind == types.KindSmallMoney:
			return types.Money, nil
		default:
			return types.Null, sqlerr.ArgumentType(t.Name(), 1, name)
		}
	}
}

// wholeType is numberType for CEILING and FLOOR, whose decimals have no places.
func wholeType(name string) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		t, err := numberType(name)(args)
		if t.Kind == types.KindDecimal {
			t.Scale = 0
		}
		return t, err
	}
}

// widened brings an argument to the kind numberType says.
func widened(v types.Value) (types.Value, error) {
	switch k := v.Kind(); {
	case k == types.KindBigInt, k == types.KindMoney, k == types.KindDecimal, k == types.KindFloat, k == types.KindInt:
		return v, nil
	case k == types.KindTinyInt, k == types.KindSmallInt:
		return types.NewInt(types.KindInt, v.Int()), nil
	case k == types.KindSmallMoney:
		return types.NewMoney(v.Int()), nil
	}
	return types.Assign(v, types.Float)
}

func numeric(f func(types.Value) (types.Value, error)) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		v, err := widened(args[0])
		if err != nil {
			return v, err
		}
		return f(v)
	})
}

func floatOf(f float64) (types.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return types.Value{}, sqlerr.InvalidFloat()
	}
	return types.NewFloat(f), nil
}

func floats(f func(float64) float64) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		x, err := float(args[0])
		if err != nil {
			return types.Value{}, err
		}
		return floatOf(f(x))
	})
}

func positive(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if x <= 0 {
			return math.NaN()
		}
		return f(x)
	}
}

func sign(v types.Value) int {
	switch v.Kind() {
	case types.KindFloat:
		switch f := v.Float(); {
		case f < 0:
			return -1
		case f > 0:
			return 1
		}
		return 0
	case types.KindDecimal:
		neg, hi, lo, _ := v.DecimalParts()
		switch {
		case hi == 0 && lo == 0:
			return 0
		case neg:
			return -1
		}
		return 1
	}
	switch n := v.Int(); {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func typeOf(v types.Value) types.Type {
	return types.Type{Kind: v.Kind(), Prec: 38, Scale: v.Scale()}
}

func evalAbs(v types.Value) (types.Value, error) {
	if sign(v) >= 0 {
		return v, nil
	}
	return types.Neg(typeOf(v), v)
}

func evalSign(v types.Value) (types.Value, error) {
	return types.Convert(count(sign(v)), typeOf(v), 0)
}

func evalFloor(v types.Value) (types.Value, error) { return whole(v, -1) }

func evalCeiling(v types.Value) (types.Value, error) { return whole(v, 1) }

// whole rounds to a whole number, down for -1 and up for 1.
func whole(v types.Value, dir int) (types.Value, error) {
	switch v.Kind() {
	case types.KindFloat:
		if dir < 0 {
			return types.NewFloat(math.Floor(v.Float())), nil
		}
		return types.NewFloat(math.Ceil(v.Float())), nil
	case types.KindMoney:
		n := v.Int()
		if r := n % 10000; r != 0 {
			n -= r
			if dir > 0 && r > 0 {
				n += 10000
			} else if dir < 0 && r < 0 {
				n -= 10000
			}
		}
		return types.NewMoney(n), nil
	case types.KindDecimal:
		cut := v.Rounded(0, true)
		if c := types.Compare(cut, v); c != 0 && (c < 0) == (dir > 0) {
			return types.Arith(types.OpAdd, types.Decimal(38, 0), cut, types.NewDecimal64(int64(dir), 0))
		}
		return cut, nil
	}
	return v, nil
}

// evalRound is ROUND(x, places, cut): places below 0 round before the point.
func evalRound(args []types.Value) (types.Value, error) {
	v, err := widened(args[0])
	if err != nil {
		return v, err
	}
	p, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	cut := false
	if len(args) == 3 {
		n, err := integer(args[2])
		if err != nil {
			return types.Value{}, err
		}
		cut = n != 0
	}
	places := int(max(min(p, 400), -400))
	switch v.Kind() {
	case types.KindFloat:
		return floatOf(roundFloat(v.Float(), places, cut))
	case types.KindMoney:
		d := types.NewDecimal64(v.Int(), 4).RoundedTo(places, cut)
		return types.Convert(d, types.Money, 0)
	case types.KindDecimal:
		r := v.RoundedTo(places, cut)
		if r.IsNull() {
			return r, sqlerr.Overflow("numeric")
		}
		return r, nil
	}
	if places >= 0 {
		return v, nil
	}
	d := types.NewDecimal64(v.Int(), 0).RoundedTo(places, cut)
	return types.Convert(d, types.Type{Kind: v.Kind()}, 0)
}

func roundFloat(f float64, places int, cut bool) float64 {
	if places > 15 {
		return f
	}
	p := math.Pow(10, float64(places))
	x := f * p
	if math.IsInf(x, 0) || p == 0 {
		return 0
	}
	if cut {
		return math.Trunc(x) / p
	}
	return math.Round(x) / p
}

// evalPower computes in floats and returns the type of its first argument.
func evalPower(args []types.Value) (types.Value, error) {
	v, err := widened(args[0])
	if err != nil {
		return v, err
	}
	x, err := float(args[0])
	if err != nil {
		return types.Value{}, err
	}
	y, err := float(args[1])
	if err != nil {
		return types.Value{}, err
	}
	f := math.Pow(x, y)
	if math.IsNaN(f) {
		return types.Value{}, sqlerr.InvalidFloat()
	}
	if math.IsInf(f, 0) {
		if x == 0 {
			return types.Value{}, sqlerr.DivideByZero()
		}
		return types.Value{}, sqlerr.Overflow("float")
	}
	r, err := types.Convert(types.NewFloat(f), typeOf(v), 0)
	if sqlerr.Number(err) == 232 {
		return types.Value{}, sqlerr.OverflowFloat(v.Kind().String(), f)
	}
	return r, err
}

func evalLog(args []types.Value) (types.Value, error) {
	x, err := float(args[0])
	if err != nil {
		return types.Value{}, err
	}
	if x <= 0 {
		return types.Value{}, sqlerr.InvalidFloat()
	}
	if len(args) == 1 {
		return floatOf(math.Log(x))
	}
	base, err := float(args[1])
	if err != nil {
		return types.Value{}, err
	}
	if base <= 0 || base == 1 {
		return types.Value{}, sqlerr.InvalidFloat()
	}
	return floatOf(math.Log(x) / math.Log(base))
}

func evalAtn2(args []types.Value) (types.Value, error) {
	y, err := float(args[0])
	if err != nil {
		return types.Value{}, err
	}
	x, err := float(args[1])
	if err != nil {
		return types.Value{}, err
	}
	return floatOf(math.Atan2(y, x))
}

func scaled(by float64) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		v, err := widened(args[0])
		if err != nil {
			return v, err
		}
		x, err := float(args[0])
		if err != nil {
			return types.Value{}, err
		}
		return types.Convert(types.NewFloat(x*by), typeOf(v), 0)
	})
}

// SeededRand is RAND(seed): the first number of L'Ecuyer's combined generator
// whose first component begins at the seed and whose second one is always the
// same. Seed 0 counts as 12345.
func SeededRand(seed int64) float64 {
	const m1, second = 2147483563, 615096481
	if seed == 0 {
		seed = 12345
	}
	if seed < 0 {
		seed = -seed
	}
	z := seed%m1*40014%m1 - second
	if z < 1 {
		z += m1 - 1
	}
	return float64(z) * 4.656613e-10
}
