package server

import (
	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

// encoder writes the values of one column.
type encoder struct {
	typ  types.Type // what the value must be; values of other kinds are converted
	info tds.TypeInfo
}

const ticksPerDay = 24 * 60 * 60 * 10_000_000

// newEncoder chooses how a type looks on the wire. Clients older than the date
// types (7.3) and the MAX types (7.2) get what SQL Server gives them: text, and
// text, ntext and image.
func newEncoder(t types.Type, v tds.Version) encoder {
	if !v.Has73() {
		switch t.Kind {
		case types.KindDate:
			t = types.NVarChar(10)
		case types.KindTime:
			t = types.NVarChar(16)
		case types.KindDateTime2:
			t = types.NVarChar(27)
		case types.KindDateTimeOffset:
			t = types.NVarChar(34)
		}
	}
	if !v.Has72() && t.Len == types.Max {
		switch t.Kind {
		case types.KindVarChar:
			t = types.Type{Kind: types.KindText}
		case types.KindNVarChar:
			t = types.Type{Kind: types.KindNText}
		case types.KindVarBinary:
			t = types.Type{Kind: types.KindImage}
		}
	}
	return encoder{typ: t, info: typeInfo(t)}
}

// typeInfo is the wire's description of a type. Types that can be fixed go out
// as their nullable kin.
func typeInfo(t types.Type) tds.TypeInfo {
	sized := func(id tds.TypeID, unit int) tds.TypeInfo {
		if t.Len == types.Max {
			return tds.TypeInfo{ID: id, Size: tds.SizeMax, Collation: tds.DefaultCollation}
		}
		return tds.TypeInfo{ID: id, Size: max(int(t.Len), 1) * unit, Collation: tds.DefaultCollation}
	}
	switch t.Kind {
	case types.KindBit:
		return tds.TypeInfo{ID: tds.TypeBitN, Size: 1}
	case types.KindTinyInt:
		return tds.TypeInfo{ID: tds.TypeIntN, Size: 1}
	case types.KindSmallInt:
		return tds.TypeInfo{ID: tds.TypeIntN, Size: 2}
	case types.KindInt, types.KindNull: // an untyped NULL is an int
		return tds.TypeInfo{ID: tds.TypeIntN, Size: 4}
	case types.KindBigInt:
		return tds.TypeInfo{ID: tds.TypeIntN, Size: 8}
	case types.KindDecimal:
		return tds.TypeInfo{ID: tds.TypeDecimalN, Size: tds.DecimalSize(t.Prec), Prec: t.Prec, Scale: t.Scale}
	case types.KindMoney:
		return tds.TypeInfo{ID: tds.TypeMoneyN, Size: 8}
	case types.KindSmallMoney:
		return tds.TypeInfo{ID: tds.TypeMoneyN, Size: 4}
	case types.KindFloat:
		return tds.TypeInfo{ID: tds.TypeFloatN, Size: 8}
	case types.KindReal:
		return tds.TypeInfo{ID: tds.TypeFloatN, Size: 4}
	case types.KindChar:
		return sized(tds.TypeChar, 1)
	case types.KindVarChar:
		return sized(tds.TypeVarChar, 1)
	case types.KindNChar:
		return sized(tds.TypeNChar, 2)
	case types.KindNVarChar:
		return sized(tds.TypeNVarChar, 2)
	case types.KindBinary:
		return sized(tds.TypeBinary, 1)
	case types.KindVarBinary:
		return sized(tds.TypeVarBinary, 1)
	case types.KindText:
		return tds.TypeInfo{ID: tds.TypeText, Size: 0x7FFFFFFF, Collation: tds.DefaultCollation}
	case types.KindNText:
		return tds.TypeInfo{ID: tds.TypeNText, Size: 0x7FFFFFFE, Collation: tds.DefaultCollation}
	case types.KindImage:
		return tds.TypeInfo{ID: tds.TypeImage, Size: 0x7FFFFFFF}
	case types.KindDate:
		return tds.TypeInfo{ID: tds.TypeDateN, Size: 3}
	case types.KindTime:
		return tds.TypeInfo{ID: tds.TypeTimeN, Scale: t.Scale}
	case types.KindDateTime2:
		return tds.TypeInfo{ID: tds.TypeDateTime2N, Scale: t.Scale}
	case types.KindDateTimeOffset:
		return tds.TypeInfo{ID: tds.TypeDateTimeOffN, Scale: t.Scale}
	case types.KindDateTime:
		return tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 8}
	case types.KindSmallDateTime:
		return tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 4}
	case types.KindUniqueIdentifier:
		return tds.TypeInfo{ID: tds.TypeGUID, Size: 16}
	case types.KindSQLVariant:
		return tds.TypeInfo{ID: tds.TypeVariant, Size: 8009}
	}
	return tds.TypeInfo{ID: tds.TypeNVarChar, Size: tds.SizeMax, Collation: tds.DefaultCollation}
}

// append appends a value as a row carries it.
func (e *encoder) append(b []byte, v types.Value) ([]byte, error) {
	if v.IsNull() {
		return tds.AppendNull(b, &e.info), nil
	}
	if e.typ.Kind == types.KindSQLVariant {
		return appendVariant(b, v)
	}
	if v.Kind() != e.typ.Kind || e.typ.Kind == types.KindDecimal && v.Scale() != e.typ.Scale {
		var err error
		if v, err = types.Convert(v, e.typ, 0); err != nil {
			return b, err
		}
		if v.IsNull() {
			return tds.AppendNull(b, &e.info), nil
		}
	}
	t := &e.info
	switch e.typ.Kind {
	case types.KindBit, types.KindTinyInt, types.KindSmallInt, types.KindInt, types.KindBigInt:
		return tds.AppendInt(b, t, v.Int()), nil
	case types.KindMoney, types.KindSmallMoney:
		return tds.AppendMoney(b, t, v.Int()), nil
	case types.KindFloat, types.KindReal:
		return tds.AppendFloat(b, t, v.Float()), nil
	case types.KindDecimal:
		neg, hi, lo, _ := v.DecimalParts()
		return tds.AppendDecimal(b, t, neg, lo, hi), nil
	case types.KindBinary, types.KindVarBinary, types.KindImage:
		return tds.AppendBytes(b, t, v.Bytes()), nil
	case types.KindDate:
		return tds.AppendDate(b, int32(v.Days())), nil
	case types.KindTime:
		return tds.AppendTime(b, t, v.Ticks()), nil
	case types.KindDateTime2:
		return tds.AppendDateTime2(b, t, int32(v.Ticks()/ticksPerDay), v.Ticks()%ticksPerDay), nil
	case types.KindDateTimeOffset:
		return tds.AppendDateTimeOffset(b, t, int32(v.Ticks()/ticksPerDay), v.Ticks()%ticksPerDay, int16(v.OffsetMinutes())), nil
	case types.KindDateTime:
		days, ticks := v.DateTimeParts()
		return tds.AppendDateTime(b, int32(days), uint32(ticks)), nil
	case types.KindSmallDateTime:
		days, minutes := v.SmallDateTimeParts()
		return tds.AppendSmallDateTime(b, uint16(days), uint16(minutes)), nil
	case types.KindUniqueIdentifier:
		return tds.AppendGUID(b, v.GUID()), nil
	}
	return tds.AppendString(b, t, v.Str()), nil
}

// appendVariant appends a sql_variant: the value says what it is.
func appendVariant(b []byte, v types.Value) ([]byte, error) {
	t := types.Type{Kind: v.Kind(), Scale: v.Scale()}
	switch {
	case v.Kind() == types.KindDecimal:
		t.Prec = 38
	case v.Kind().IsUnicode():
		t.Kind, t.Len = types.KindNVarChar, 4000
	case v.Kind().IsString():
		t.Kind, t.Len = types.KindVarChar, 8000
	case v.Kind().IsBinary():
		t.Kind, t.Len = types.KindVarBinary, 8000
	}
	e := encoder{typ: t, info: typeInfo(t)}
	var err error
	b = tds.AppendVariant(b, &e.info, func(b []byte) []byte {
		b, err = e.append(b, v)
		return b
	})
	return b, err
}
