package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

type aggKind uint8

const (
	aggCount aggKind = iota
	aggCountBig
	aggSum
	aggAvg
	aggMin
	aggMax
	aggStdev
	aggStdevP
	aggVar
	aggVarP
	aggStringAgg
	aggChecksum
)

var aggregates = map[string]aggKind{
	"count": aggCount, "count_big": aggCountBig, "sum": aggSum, "avg": aggAvg, "min": aggMin, "max": aggMax,
	"stdev": aggStdev, "stdevp": aggStdevP, "var": aggVar, "varp": aggVarP,
	"string_agg": aggStringAgg, "checksum_agg": aggChecksum, "approx_count_distinct": aggCountBig,
}

func isAggregate(name string) bool {
	_, ok := aggregates[strings.ToLower(name)]
	return ok
}

// aggregate is a compiled aggregate function.
type aggregate struct {
	kind     aggKind
	arg      expr.Expr // Eval is nil for COUNT(*)
	sep      expr.Expr // STRING_AGG
	order    []sortKey // STRING_AGG ... WITHIN GROUP
	distinct bool
	typ      types.Type
	reg      int
	leaf     *leaf // when the argument is a plain column
	ord      int
}

func (a *aggregate) count() bool { return a.kind == aggCount || a.kind == aggCountBig }

// accumulator is the state of one aggregate over one group.
type accumulator struct {
	n    int64
	i    int64
	f, q float64 // sum, sum of squares
	v    types.Value
	set  *rowTable // DISTINCT
	strs []aggString
	size int
}

type aggString struct {
	text string
	sep  string
	key  []types.Value
}

func (acc *accumulator) reset() {
	set := acc.set
	if set != nil {
		set.reset()
	}
	*acc = accumulator{set: set}
}

// newAggregate compiles a call. Its argument sees the rows, not the groups.
func (b *block) newAggregate(e *ast.FunctionCall) (*aggregate, error) {
	name := strings.ToLower(e.FunctionName.Value)
	a := &aggregate{kind: aggregates[name], distinct: strings.EqualFold(e.UniqueRowFilter, "Distinct") || name == "approx_count_distinct"}
	want := 1
	if a.kind == aggStringAgg {
		want = 2
	}
	if len(e.Parameters) != want {
		return nil, sqlerr.ArgumentCount(strings.ToUpper(name), want)
	}
	if c, ok := e.Parameters[0].(*ast.ColumnReferenceExpression); ok && c.ColumnType == "Wildcard" {
		if !a.count() || a.distinct {
			return nil, sqlerr.Syntax("*")
		}
		a.typ = types.Int
		if a.kind == aggCountBig {
			a.typ = types.BigInt
		}
		return a, nil
	}
	x, err := b.argument(e.Parameters[0])
	if err != nil {
		return nil, err
	}
	a.arg = x
	if c, ok := e.Parameters[0].(*ast.ColumnReferenceExpression); ok {
		if s, i, err := b.find(identifiers(c.MultiPartIdentifier)); err == nil && s != nil {
			a.leaf, a.ord = s.cols[i].leaf, s.cols[i].ord
		}
	}
	if a.typ, err = aggType(a.kind, name, x.Type); err != nil {
		return nil, err
	}
	if a.distinct {
		if err := comparable(x.Type); err != nil {
			return nil, err
		}
	}
	switch a.kind {
	case aggSum, aggAvg:
		if !x.Type.Kind.IsMoney() && x.Type.Kind != types.KindDecimal && !x.Type.Kind.IsInt() && x.Type.Kind != types.KindFloat {
			a.arg, err = expr.Cast(x, types.Float, false)
		}
	case aggStdev, aggStdevP, aggVar, aggVarP:
		a.arg, err = expr.Cast(x, types.Float, false)
	case aggStringAgg:
		if a.arg, err = expr.Cast(x, a.typ, false); err != nil {
			return nil, err
		}
		if a.sep, err = b.argument(e.Parameters[1]); err != nil {
			return nil, err
		}
		if !a.sep.Type.Kind.IsString() {
			return nil, sqlerr.ArgumentType(a.sep.Type.Name(), 2, "string_agg")
		}
		if e.WithinGroupClause != nil && e.WithinGroupClause.OrderByClause != nil {
			for _, o := range e.WithinGroupClause.OrderByClause.OrderByElements {
				k, err := b.argument(o.Expression)
				if err != nil {
					return nil, err
				}
				a.order = append(a.order, sortKey{ex: k, desc: o.SortOrder == "Descending"})
			}
		}
	}
	return a, err
}

// aggType is the type of an aggregate's result. Error 8117: the argument's
// type is none for this aggregate.
func aggType(kind aggKind, name string, t types.Type) (types.Type, error) {
	bad := func() (types.Type, error) { return t, sqlerr.InvalidOperand(t.Name(), name) }
	switch kind {
	case aggCount:
		return types.Int, nil
	case aggCountBig:
		return types.BigInt, nil
	case aggMin, aggMax:
		if t.Kind == types.KindBit || comparable(t) != nil {
			return bad()
		}
		return t, nil
	case aggSum, aggAvg:
		switch {
		case t.Kind == types.KindBit || t.Kind == types.KindNull || !t.Kind.IsNumeric():
			return bad()
		case t.Kind == types.KindBigInt:
			return t, nil
		case t.Kind.IsInt():
			return types.Int, nil
		case t.Kind.IsMoney():
			return types.Money, nil
		case t.Kind == types.KindDecimal && kind == aggSum:
			return types.Decimal(38, int(t.Scale)), nil
		case t.Kind == types.KindDecimal:
			return types.Decimal(38, int(max(t.Scale, 6))), nil
		}
		return types.Float, nil
	case aggStdev, aggStdevP, aggVar, aggVarP:
		if t.Kind == types.KindBit || !t.Kind.IsNumeric() {
			return bad()
		}
		return types.Float, nil
	case aggChecksum:
		if t.Kind != types.KindInt && t.Kind != types.KindSmallInt && t.Kind != types.KindTinyInt {
			return bad()
		}
		return types.Int, nil
	}
	// STRING_AGG
	switch {
	case t.Kind == types.KindNVarChar && t.Len == types.Max, t.Kind == types.KindVarChar && t.Len == types.Max:
		return t, nil
	case t.Kind == types.KindVarChar || t.Kind == types.KindChar:
		return types.Type{Kind: types.KindVarChar, Len: 8000, Coll: t.Coll}, nil
	case comparable(t) != nil || t.Kind.IsBinary():
		return bad()
	}
	return types.Type{Kind: types.KindNVarChar, Len: 4000, Coll: t.Coll}, nil
}

// add takes the row in the registers into the accumulator.
func (a *aggregate) add(acc *accumulator, f *expr.Frame) error {
	if a.arg.Eval == nil {
		acc.n++
		return nil
	}
	v, err := a.arg.Eval(f)
	if err != nil || v.IsNull() {
		return err
	}
	if a.distinct {
		if acc.set == nil {
			acc.set = &rowTable{width: 1, keys: 1, colls: collations([]types.Type{a.arg.Type})}
		}
		key := [1]types.Value{v}
		h := hashRow(key[:])
		if acc.set.first(h, key[:]) >= 0 {
			return nil
		}
		acc.set.add(h, key[:])
	}
	if a.kind == aggStringAgg {
		return a.addString(acc, f, v)
	}
	return a.addValue(acc, v)
}

func (a *aggregate) addValue(acc *accumulator, v types.Value) error {
	first := acc.n == 0
	acc.n++
	switch a.kind {
	case aggSum, aggAvg:
		switch {
		case v.Kind().IsInt() || v.Kind().IsMoney():
			s := acc.i + v.Int()
			if (s > acc.i) != (v.Int() > 0) && v.Int() != 0 {
				return sqlerr.Overflow(a.typ.Name())
			}
			acc.i = s
		case v.Kind() == types.KindFloat:
			acc.f += v.Float()
		case first:
			acc.v = v
		default:
			s, err := types.Arith(types.OpAdd, types.Decimal(38, int(a.arg.Type.Scale)), acc.v, v)
			if err != nil {
				return err
			}
			acc.v = s
		}
	case aggMin:
		if first || types.CompareColl(v, acc.v, a.typ.Coll) < 0 {
			acc.v = v
		}
	case aggMax:
		if first || types.CompareColl(v, acc.v, a.typ.Coll) > 0 {
			acc.v = v
		}
	case aggStdev, aggStdevP, aggVar, aggVarP:
		// Welford: f is the mean, q the sum of squared distances from it.
		d := v.Float() - acc.f
		acc.f += d / float64(acc.n)
		acc.q += d * (v.Float() - acc.f)
	case aggChecksum:
		acc.i ^= v.Int()
	}
	return nil
}

// maxAggString is the number of bytes a string that is not of a max type holds.
const maxAggString = 8000

func (a *aggregate) addString(acc *accumulator, f *expr.Frame, v types.Value) error {
	sep, err := a.sep.Eval(f)
	if err != nil {
		return err
	}
	s := aggString{text: v.Str()}
	if !sep.IsNull() {
		s.sep = sep.Str()
	}
	for _, k := range a.order {
		kv, err := k.ex.Eval(f)
		if err != nil {
			return err
		}
		s.key = append(s.key, kv)
	}
	width := 1
	if a.typ.Kind == types.KindNVarChar {
		width = 2
	}
	if acc.n > 0 {
		acc.size += len(s.sep) * width
	}
	acc.size += len(s.text) * width
	if a.typ.Len != types.Max && acc.size > maxAggString {
		return sqlerr.New(9829, 16, 1, "The result of the STRING_AGG aggregation is longer than 8000 bytes. Use a LOB type, so that it is not cut.")
	}
	if err := types.Fits(acc.size); err != nil {
		return err
	}
	acc.n++
	acc.strs = append(acc.strs, s)
	return nil
}

// result is the aggregate of the group.
func (a *aggregate) result(acc *accumulator) (types.Value, error) {
	switch a.kind {
	case aggCount:
		if acc.n > math.MaxInt32 {
			return nullValue, sqlerr.Overflow("int")
		}
		return types.NewInt(types.KindInt, acc.n), nil
	case aggCountBig:
		return types.NewInt(types.KindBigInt, acc.n), nil
	}
	if acc.n == 0 {
		return nullValue, nil
	}
	n := float64(acc.n)
	switch a.kind {
	case aggSum:
		return a.sum(acc)
	case aggAvg:
		return a.average(acc)
	case aggMin, aggMax:
		return acc.v, nil
	case aggChecksum:
		return types.NewInt(types.KindInt, acc.i), nil
	case aggStringAgg:
		return a.join(acc), nil
	case aggVarP:
		return types.NewFloat(acc.q / n), nil
	case aggStdevP:
		return types.NewFloat(math.Sqrt(acc.q / n)), nil
	}
	if acc.n < 2 {
		return nullValue, nil
	}
	if a.kind == aggVar {
		return types.NewFloat(acc.q / (n - 1)), nil
	}
	return types.NewFloat(math.Sqrt(acc.q / (n - 1))), nil
}

func (a *aggregate) sum(acc *accumulator) (types.Value, error) {
	switch a.typ.Kind {
	case types.KindInt:
		if acc.i != int64(int32(acc.i)) {
			return nullValue, sqlerr.Overflow("int")
		}
		return types.NewInt(types.KindInt, acc.i), nil
	case types.KindBigInt:
		return types.NewInt(types.KindBigInt, acc.i), nil
	case types.KindMoney:
		return types.NewMoney(acc.i), nil
	case types.KindFloat:
		return types.NewFloat(acc.f), nil
	}
	return types.Assign(acc.v, a.typ)
}

func (a *aggregate) average(acc *accumulator) (types.Value, error) {
	switch a.typ.Kind {
	case types.KindInt, types.KindBigInt:
		return types.NewInt(a.typ.Kind, acc.i/acc.n), nil
	case types.KindMoney:
		// Half a ten-thousandth is rounded away from zero.
		q, r := acc.i/acc.n, acc.i%acc.n
		if 2*r >= acc.n {
			q++
		} else if 2*r <= -acc.n {
			q--
		}
		return types.NewMoney(q), nil
	case types.KindFloat:
		return types.NewFloat(acc.f / float64(acc.n)), nil
	}
	n := types.NewDecimal64(acc.n, 0)
	return types.Arith(types.OpDiv, a.typ, acc.v, n)
}

func (a *aggregate) join(acc *accumulator) types.Value {
	if len(a.order) > 0 {
		slices.SortStableFunc(acc.strs, func(x, y aggString) int {
			for i, k := range a.order {
				c := order(x.key[i], y.key[i], k.ex.Type.Coll)
				if k.desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		})
	}
	var b strings.Builder
	for i, s := range acc.strs {
		if i > 0 {
			b.WriteString(s.sep)
		}
		b.WriteString(s.text)
	}
	return types.NewString(a.typ.Kind, b.String())
}
