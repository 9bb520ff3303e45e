package types

import "gostress/internal/engine/sqlerr"

// conversion tells how one kind becomes another.
type conversion uint8

const (
	convNone conversion = iota
	convExplicit
	convImplicit
)

// conversionOf is the engine's form of the documented conversion table.
func conversionOf(from, to Kind) conversion {
	if from == to || from == KindNull || from == KindSQLVariant && to == KindSQLVariant {
		return convImplicit
	}
	cf, ct := from.info().class, to.info().class
	if ct == classOther {
		if to == KindSQLVariant && !from.isLOB() && from != KindTable {
			return convImplicit
		}
		return convNone
	}
	if from == KindSQLVariant && !to.isLOB() {
		return convExplicit
	}
	if from.isLOB() || to.isLOB() {
		return lobConversion(from, to)
	}
	switch cf {
	case classString:
		if ct == classBinary {
			return convExplicit
		}
		return convImplicit
	case classInt, classDecimal, classMoney, classFloat:
		switch ct {
		case classString:
			if cf == classMoney {
				return convExplicit
			}
			return convImplicit
		case classBinary:
			if cf == classFloat {
				return convExplicit
			}
			return convImplicit
		case classTemporal:
			if to == KindDateTime || to == KindSmallDateTime {
				return convImplicit
			}
			return convNone
		case classGUID:
			return convNone
		}
		return convImplicit
	case classBinary:
		switch {
		case ct == classFloat:
			return convNone
		case ct == classTemporal && to != KindDateTime && to != KindSmallDateTime:
			return convExplicit
		}
		return convImplicit
	case classTemporal:
		legacy := from == KindDateTime || from == KindSmallDateTime
		switch ct {
		case classString:
			return convImplicit
		case classBinary:
			return convExplicit
		case classTemporal:
			if (from == KindDate && to == KindTime) || (from == KindTime && to == KindDate) {
				return convNone
			}
			return convImplicit
		case classGUID:
			return convNone
		}
		if legacy {
			return convExplicit
		}
		return convNone
	case classGUID:
		if ct == classString || ct == classBinary {
			return convImplicit
		}
	}
	return convNone
}

func lobConversion(from, to Kind) conversion {
	cf, ct := from.info().class, to.info().class
	switch {
	case cf == classString && ct == classString:
		return convImplicit
	case cf == classBinary && ct == classBinary:
		return convImplicit
	case to == KindImage && cf == classString && !from.isLOB():
		return convImplicit
	}
	return convNone
}

// CheckConversion refuses a conversion that SQL Server refuses whatever the
// value: 206 or 257 for an implicit one, 529 for an explicit one.
func CheckConversion(from, to Type, explicit bool) error {
	switch conversionOf(from.Kind, to.Kind) {
	case convImplicit:
		return nil
	case convExplicit:
		if explicit {
			return nil
		}
		return sqlerr.NoImplicitConversion(from.errName(), to.errName())
	}
	if explicit {
		return sqlerr.NoExplicitConversion(from.errName(), to.errName())
	}
	return sqlerr.TypeClash(from.errName(), to.errName())
}

// CommonType is the type two expressions take when they meet, in a comparison,
// a CASE or a UNION: the one that precedence prefers, wide enough for both.
// Errors: 206.
func CommonType(a, b Type) (Type, error) {
	if a.Kind == KindNull {
		return b, nil
	}
	if b.Kind == KindNull || a == b {
		return a, nil
	}
	hi, lo := a, b
	if b.Kind.info().rank > a.Kind.info().rank {
		hi, lo = b, a
	}
	if conversionOf(lo.Kind, hi.Kind) == convNone {
		return Null, sqlerr.TypeClash(a.errName(), b.errName())
	}
	switch hi.Kind.info().class {
	case classDecimal:
		if !lo.Kind.IsNumeric() {
			return hi, nil
		}
		p1, s1 := decimalShape(hi)
		p2, s2 := decimalShape(lo)
		whole, s := max(p1-s1, p2-s2), max(s1, s2)
		if whole+s > maxPrec {
			s = maxPrec - whole
		}
		return Decimal(whole+s, s), nil
	case classString, classBinary:
		if hi.Kind.info().class != lo.Kind.info().class {
			return hi, nil
		}
		hi.Coll = max(hi.Coll, lo.Coll)
		switch {
		case hi.Len == Max || lo.Len == Max:
			if fixed(hi.Kind) {
				hi.Kind++ // the var kind follows its fixed kind
			}
			hi.Len = Max
		default:
			hi.Len = min(max(hi.Len, lo.Len), int32(max(maxLen(hi.Kind), int(hi.Len))))
		}
	case classTemporal:
		if lo.Kind.IsTemporal() {
			switch hi.Kind {
			case KindTime, KindDateTime2, KindDateTimeOffset:
				s := lo.Scale
				if lo.Kind == KindDateTime {
					s = 3
				}
				hi.Scale = max(hi.Scale, s)
			}
		}
	}
	return hi, nil
}
