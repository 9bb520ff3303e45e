package types

import "gostress/internal/engine/sqlerr"

// ArithType is the type of a op b. Errors: 8117, 402, 206.
func ArithType(op Op, a, b Type) (Type, error) {
	if a.Kind == KindNull && b.Kind == KindNull {
		return Int, nil
	}
	if a.Kind == KindNull {
		a = b
	} else if b.Kind == KindNull {
		b = a
	}
	ca, cb := a.Kind.info().class, b.Kind.info().class
	incompatible := func() (Type, error) {
		if a.Kind == b.Kind {
			return Null, sqlerr.InvalidOperand(a.errName(), op.String())
		}
		return Null, sqlerr.IncompatibleOperands(a.errName(), b.errName(), op.String())
	}
	if a.Kind.isLOB() || b.Kind.isLOB() || ca == classOther || cb == classOther || ca == classGUID || cb == classGUID {
		return incompatible()
	}
	if op.bitwise() {
		switch {
		case ca == classInt && cb == classInt:
			return higher(a, b), nil
		case ca == classInt && cb == classBinary:
			return a, nil
		case ca == classBinary && cb == classInt:
			return b, nil
		}
		return incompatible()
	}
	if ca == classTemporal || cb == classTemporal {
		return arithTemporalType(op, a, b)
	}
	if op == OpAdd && ca == classString && cb == classString {
		return concatType(a, b), nil
	}
	if op == OpAdd && ca == classBinary && cb == classBinary {
		return varLen(KindVarBinary, a, b), nil
	}
	numA, numB := a.Kind.IsNumeric(), b.Kind.IsNumeric()
	switch {
	case !numA && !numB:
		return incompatible()
	case ca == classBinary && cb != classInt, cb == classBinary && ca != classInt:
		return incompatible()
	case !numA:
		a = b
		if ca == classBinary {
			return b, nil
		}
	case !numB:
		b = a
		if cb == classBinary {
			return a, nil
		}
	}
	if a.Kind == KindBit && b.Kind == KindBit {
		return Null, sqlerr.InvalidOperand("bit", op.String())
	}
	t := higher(a, b)
	switch t.Kind {
	case KindFloat, KindReal:
		if op == OpMod {
			return incompatible()
		}
	case KindDecimal:
		p1, s1 := decimalShape(a)
		p2, s2 := decimalShape(b)
		return arithDecimalType(op, p1, s1, p2, s2), nil
	}
	return t, nil
}

// higher is the type of the two that precedence prefers.
func higher(a, b Type) Type {
	if b.Kind.info().rank > a.Kind.info().rank {
		return b
	}
	return a
}

// decimalShape is the precision and scale a number counts with beside a decimal.
func decimalShape(t Type) (prec, scale int) {
	switch t.Kind {
	case KindDecimal:
		return int(t.Prec), int(t.Scale)
	case KindBit:
		return 1, 0
	case KindTinyInt:
		return 3, 0
	case KindSmallInt:
		return 5, 0
	case KindInt:
		return 10, 0
	case KindBigInt:
		return 19, 0
	case KindMoney:
		return 19, 4
	case KindSmallMoney:
		return 10, 4
	}
	return maxPrec, 0
}

// arithDecimalType has the documented rules of precision and scale.
func arithDecimalType(op Op, p1, s1, p2, s2 int) Type {
	var p, s int
	switch op {
	case OpMul:
		p, s = p1+p2+1, s1+s2
	case OpDiv:
		s = max(6, s1+p2+1)
		p = p1 - s1 + s2 + s
	case OpMod:
		s = max(s1, s2)
		p = min(p1-s1, p2-s2) + s
	default:
		s = max(s1, s2)
		p = max(p1-s1, p2-s2) + s + 1
	}
	if p > maxPrec {
		whole := p - s
		switch op {
		case OpMul, OpDiv:
			if whole < 32 {
				s = min(s, maxPrec-whole)
			} else if s > 6 {
				s = 6
			}
		default:
			// One digit of the whole part may be lost before places are.
			s = min(s, max(0, maxPrec-max(p1-s1, p2-s2)))
		}
		p = maxPrec
	}
	return Decimal(p, s)
}

// concatType is the type of the concatenation of two strings.
func concatType(a, b Type) Type {
	k := KindVarChar
	if a.Kind.IsUnicode() || b.Kind.IsUnicode() {
		k = KindNVarChar
	}
	if fixed(a.Kind) && fixed(b.Kind) {
		if k == KindVarChar {
			k = KindChar
		} else {
			k = KindNChar
		}
	}
	t := varLen(k, a, b)
	t.Coll = max(a.Coll, b.Coll)
	return t
}

func fixed(k Kind) bool { return k == KindChar || k == KindNChar || k == KindBinary }

func varLen(k Kind, a, b Type) Type {
	if a.Len == Max || b.Len == Max {
		return Type{Kind: k, Len: Max}
	}
	return Type{Kind: k, Len: min(a.Len+b.Len, int32(maxLen(k)))}
}

// arithTemporalType: only datetime and smalldatetime can be computed with.
func arithTemporalType(op Op, a, b Type) (Type, error) {
	legacy := func(k Kind) bool { return k == KindDateTime || k == KindSmallDateTime }
	t := higher(a, b)
	if op == OpAdd || op == OpSub {
		ta, tb := a.Kind.IsTemporal(), b.Kind.IsTemporal()
		switch {
		case ta && tb && legacy(a.Kind) && legacy(b.Kind):
			return t, nil
		case ta != tb && legacy(t.Kind):
			return t, nil
		case ta != tb && (a.Kind.IsNumeric() || b.Kind.IsNumeric()):
			return Null, sqlerr.TypeClash(a.errName(), b.errName())
		}
	}
	if a.Kind == b.Kind || a.Kind.IsString() || b.Kind.IsString() {
		return Null, sqlerr.InvalidOperand(t.errName(), op.String())
	}
	return Null, sqlerr.IncompatibleOperands(a.errName(), b.errName(), op.String())
}
