package expr

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

func (c *Compiler) unary(e *ast.UnaryExpression) (Expr, error) {
	x, err := c.Scalar(e.Expression)
	if err != nil {
		return Expr{}, err
	}
	ev := x.Eval
	switch e.UnaryExpressionType {
	case "Positive":
		x.Name = ""
		return x, nil
	case "Negative":
		t, err := types.NegType(x.Type)
		if err != nil {
			return Expr{}, err
		}
		r := fold(Expr{Type: t, Nullable: x.Nullable, Eval: func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			if err != nil {
				return v, err
			}
			return types.Neg(t, v)
		}}, x)
		r.literal = x.literal && r.Const
		return r, nil
	case "BitwiseNot":
		t, err := types.BitNotType(x.Type)
		if err != nil {
			return Expr{}, err
		}
		return fold(Expr{Type: t, Nullable: x.Nullable, Eval: func(f *Frame) (types.Value, error) {
			v, err := ev(f)
			if err != nil {
				return v, err
			}
			return types.BitNot(v), nil
		}}, x), nil
	}
	return Expr{}, sqlerr.Unsupported("unary " + e.UnaryExpressionType)
}

var binaryOps = map[string]types.Op{
	"Add": types.OpAdd, "Subtract": types.OpSub, "Multiply": types.OpMul, "Divide": types.OpDiv, "Modulo": types.OpMod,
	"BitwiseAnd": types.OpBitAnd, "BitwiseOr": types.OpBitOr, "BitwiseXor": types.OpBitXor,
}

// binary compiles a chain of operators without recursion on its left side:
// a + b + c + ... may be thousands long.
func (c *Compiler) binary(e *ast.BinaryExpression) (Expr, error) {
	if !grouped(e) {
		e = regroup(e).(*ast.BinaryExpression)
	}
	var chain []*ast.BinaryExpression
	first := ast.ScalarExpression(e)
	for {
		b, ok := first.(*ast.BinaryExpression)
		if !ok {
			break
		}
		if len(chain) > 0 && c.Rewrite != nil {
			if r, ok, err := c.Rewrite(b); err != nil {
				return Expr{}, sqlerr.AtLine(err, tsql.Line(b))
			} else if ok {
				return c.chain(r, chain)
			}
		}
		chain = append(chain, b)
		first = b.FirstExpression
	}
	l, err := c.Scalar(first)
	if err != nil {
		return Expr{}, err
	}
	return c.chain(l, chain)
}

func (c *Compiler) chain(l Expr, chain []*ast.BinaryExpression) (Expr, error) {
	for i := len(chain) - 1; i >= 0; i-- {
		b := chain[i]
		r, err := c.Scalar(b.SecondExpression)
		if err != nil {
			return Expr{}, err
		}
		if l, err = binaryOp(b.BinaryExpressionType, l, r); err != nil {
			return Expr{}, sqlerr.AtLine(err, tsql.Line(b))
		}
	}
	return l, nil
}

func binaryOp(name string, l, r Expr) (Expr, error) {
	op, ok := binaryOps[name]
	if !ok {
		switch name {
		case "Concat":
			name = "||"
		case "LeftShift":
			name = "<<"
		case "RightShift":
			name = ">>"
		}
		return Expr{}, sqlerr.Unsupported(name)
	}
	return Binary(op, l, r)
}

// Binary compiles a op b. Errors: those of types.ArithType.
func Binary(op types.Op, l, r Expr) (Expr, error) {
	lt, rt := l.Type, r.Type
	// An integer that is written in the text counts with its own digits beside
	// a decimal.
	if lt.Kind == types.KindDecimal && r.literal {
		rt = literalDecimal(r)
	} else if rt.Kind == types.KindDecimal && l.literal {
		lt = literalDecimal(l)
	}
	t, err := types.ArithType(op, lt, rt)
	if err != nil {
		return Expr{}, err
	}
	out := Expr{Type: t, Nullable: l.Nullable || r.Nullable}
	if t.Kind.IsString() {
		if out.Type.Coll, out.coll, err = commonCollation(l, r, "add"); err != nil {
			return Expr{}, err
		}
		t = out.Type
	} else if t.Kind.IsMoney() || t.Kind.IsFloat() {
		// A constant is converted once.
		if l, err = constOperand(l, t); err != nil {
			return Expr{}, err
		}
		if r, err = constOperand(r, t); err != nil {
			return Expr{}, err
		}
	}
	a, b := l.Eval, r.Eval
	if t.Kind == types.KindInt && op <= types.OpSub && l.Type.Kind == types.KindInt && r.Type.Kind == types.KindInt {
		out.Eval = addInt(op, t, a, b)
		return fold(out, l, r), nil
	}
	out.Eval = func(f *Frame) (types.Value, error) {
		x, err := a(f)
		if err != nil {
			return x, err
		}
		y, err := b(f)
		if err != nil {
			return y, err
		}
		return types.Arith(op, t, x, y)
	}
	return fold(out, l, r), nil
}

// addInt is the fast path of counters: int + int and int - int.
func addInt(op types.Op, t types.Type, a, b func(*Frame) (types.Value, error)) func(*Frame) (types.Value, error) {
	sign := int64(1)
	if op == types.OpSub {
		sign = -1
	}
	return func(f *Frame) (types.Value, error) {
		x, err := a(f)
		if err != nil {
			return x, err
		}
		y, err := b(f)
		if err != nil {
			return y, err
		}
		if x.IsNull() || y.IsNull() {
			return types.Value{}, nil
		}
		n := x.Int() + sign*y.Int()
		if n != int64(int32(n)) {
			return types.Value{}, sqlerr.Overflow(t.Name())
		}
		return types.NewInt(types.KindInt, n), nil
	}
}

func constOperand(e Expr, t types.Type) (Expr, error) {
	if !e.Const || e.Type.Kind == t.Kind || e.Value.IsNull() {
		return e, nil
	}
	v, err := types.Convert(e.Value, t, 0)
	if err != nil {
		return e, nil // it fails when it runs
	}
	return Constant(t, v), nil
}

func literalDecimal(e Expr) types.Type {
	digits := len(strings.TrimLeft(types.Format(e.Value), "-"))
	return types.Decimal(digits, 0)
}
