package server

import (
	"bytes"
	"math"

	"gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

// typeOf is the engine's type for one on the wire; an error names a type that
// the engine does not have.
func typeOf(t *tds.TypeInfo) (types.Type, error) {
	sized := func(kind types.Kind, unit int) (types.Type, error) {
		if t.Size == tds.SizeMax {
			return types.Type{Kind: kind, Len: types.Max}, nil
		}
		return types.Type{Kind: kind, Len: int32(max(t.Size/unit, 1))}, nil
	}
	switch t.ID {
	case tds.TypeNull:
		return types.Null, nil
	case tds.TypeBit, tds.TypeBitN:
		return types.Bit, nil
	case tds.TypeInt1, tds.TypeInt2, tds.TypeInt4, tds.TypeInt8, tds.TypeIntN:
		switch t.Size {
		case 1:
			return types.TinyInt, nil
		case 2:
			return types.SmallInt, nil
		case 8:
			return types.BigInt, nil
		}
		return types.Int, nil
	case tds.TypeFloat4, tds.TypeFloat8, tds.TypeFloatN:
		if t.Size == 4 {
			return types.Real, nil
		}
		return types.Float, nil
	case tds.TypeMoney, tds.TypeMoney4, tds.TypeMoneyN:
		if t.Size == 4 {
			return types.SmallMoney, nil
		}
		return types.Money, nil
	case tds.TypeDateTime, tds.TypeDateTime4, tds.TypeDateTimeN:
		if t.Size == 4 {
			return types.SmallDateTime, nil
		}
		return types.DateTime, nil
	case tds.TypeDecimal, tds.TypeDecimalN, tds.TypeNumeric, tds.TypeNumericN:
		return types.Decimal(int(t.Prec), int(t.Scale)), nil
	case tds.TypeGUID:
		return types.UniqueIdentifier, nil
	case tds.TypeDateN:
		return types.Date, nil
	case tds.TypeTimeN:
		return types.Time(int(t.Scale)), nil
	case tds.TypeDateTime2N:
		return types.DateTime2(int(t.Scale)), nil
	case tds.TypeDateTimeOffN:
		return types.DateTimeOffset(int(t.Scale)), nil
	case tds.TypeChar, tds.TypeChar1:
		return sized(types.KindChar, 1)
	case tds.TypeVarChar, tds.TypeVarChar1:
		return sized(types.KindVarChar, 1)
	case tds.TypeNChar:
		return sized(types.KindNChar, 2)
	case tds.TypeNVarChar:
		return sized(types.KindNVarChar, 2)
	case tds.TypeBinary, tds.TypeBinary1:
		return sized(types.KindBinary, 1)
	case tds.TypeVarBinary, tds.TypeVarBinary1:
		return sized(types.KindVarBinary, 1)
	case tds.TypeText:
		return types.Type{Kind: types.KindText}, nil
	case tds.TypeNText:
		return types.Type{Kind: types.KindNText}, nil
	case tds.TypeImage:
		return types.Type{Kind: types.KindImage}, nil
	case tds.TypeVariant:
		return types.SQLVariant, nil
	}
	return types.Null, sqlerr.Unsupported("data type " + t.Name())
}

// Limits of what dates and times can hold.
const (
	maxDay        = 3652058 // 9999-12-31 since 0001-01-01
	minDateTime   = -53690  // 1753-01-01 since 1900-01-01
	maxDateTime   = 2958463 // 9999-12-31 since 1900-01-01
	ticks300ADay  = 24 * 60 * 60 * 300
	maxOffset     = 14 * 60
	maxSmallDate  = 65535
	minutesPerDay = 1440
)

// valueOf converts a value; ok is false if it is none of its type. Nothing of
// raw stays in the result.
func valueOf(t *tds.TypeInfo, to types.Type, raw tds.Raw) (v types.Value, ok bool) {
	if raw.Null {
		return types.NULL(), true
	}
	b := raw.Data
	switch to.Kind {
	case types.KindBit:
		return types.NewBit(tds.Int(b) != 0), true
	case types.KindTinyInt, types.KindSmallInt, types.KindInt, types.KindBigInt:
		return types.NewInt(to.Kind, tds.Int(b)), true
	case types.KindFloat:
		f := tds.Float(b)
		return types.NewFloat(f), !math.IsNaN(f) && !math.IsInf(f, 0)
	case types.KindReal:
		f := tds.Float(b)
		return types.NewReal(float32(f)), !math.IsNaN(f) && !math.IsInf(f, 0)
	case types.KindMoney:
		return types.NewMoney(tds.Money(b)), true
	case types.KindSmallMoney:
		return types.NewSmallMoney(int32(tds.Money(b))), true
	case types.KindDecimal:
		return decimalOf(b, to)
	case types.KindUniqueIdentifier:
		if len(b) != 16 {
			return v, false
		}
		return types.NewGUID([16]byte(b)), true
	case types.KindDate:
		d := tds.Date(b)
		return types.NewDate(int64(d)), d <= maxDay
	case types.KindTime:
		n := tds.Time(b, t.Scale)
		return types.NewTime(n, t.Scale), n >= 0 && n < ticksPerDay
	case types.KindDateTime2:
		d, n := tds.DateTime2(b, t.Scale)
		return types.NewDateTime2(int64(d)*ticksPerDay+n, t.Scale), d <= maxDay && n >= 0 && n < ticksPerDay
	case types.KindDateTimeOffset:
		d, n, off := tds.DateTimeOffset(b, t.Scale)
		ok := d <= maxDay && n >= 0 && n < ticksPerDay && off >= -maxOffset && off <= maxOffset
		return types.NewDateTimeOffset(int64(d)*ticksPerDay+n, int(off), t.Scale), ok
	case types.KindDateTime:
		d, n := tds.DateTime(b)
		return types.NewDateTime(int64(d), int64(n)), d >= minDateTime && d <= maxDateTime && n < ticks300ADay
	case types.KindSmallDateTime:
		d, m := tds.SmallDateTime(b)
		return types.NewSmallDateTime(int64(d), int64(m)), m < minutesPerDay
	case types.KindBinary, types.KindVarBinary, types.KindImage:
		return types.NewBytes(to.Kind, bytes.Clone(b)), true
	case types.KindNChar, types.KindNVarChar, types.KindNText:
		if len(b)%2 != 0 {
			return v, false
		}
	case types.KindSQLVariant:
		inner, raw, err := tds.Variant(b)
		if err != nil {
			return v, false
		}
		typ, err := typeOf(&inner)
		if err != nil {
			return v, false
		}
		return valueOf(&inner, typ, raw)
	}
	if !to.Kind.IsString() {
		return v, false
	}
	return types.NewString(to.Kind, t.String(b)), true
}

func decimalOf(b []byte, to types.Type) (types.Value, bool) {
	neg, c := tds.Decimal(b)
	if len(c) > 16 {
		return types.NULL(), false
	}
	var hi, lo uint64
	for i := len(c) - 1; i >= 0; i-- {
		hi = hi<<8 | lo>>56
		lo = lo<<8 | uint64(c[i])
	}
	// 10^38 - 1, the largest coefficient
	const maxHi, maxLo = 0x4B3B4CA85A86C47A, 0x098A223FFFFFFFFF
	if hi > maxHi || hi == maxHi && lo > maxLo {
		return types.NULL(), false
	}
	return types.NewDecimalParts(neg, hi, lo, to.Scale), true
}

// badValue is error 8023: a value that none of its type can be.
func badValue(n int, name string, t *tds.TypeInfo) error {
	return sqlerr.New(8023, 16, 1, "The incoming RPC is not correct. Parameter %d (\"%s\"): the value is none that data type %s can have.", n, name, t.Name())
}

// param converts a parameter of a call; n counts from 1.
func param(n int, p *tds.Param, into *exec.Param) error {
	into.Name = p.Name
	into.Output = p.Status&tds.ParamOutput != 0
	into.Default = p.Status&tds.ParamDefault != 0
	if p.Type.ID == tds.TypeTable {
		into.Type = types.Type{Kind: types.KindTable}
		var err error
		into.Table, err = tableOf(n, p)
		return err
	}
	var err error
	if into.Type, err = typeOf(&p.Type); err != nil {
		return err
	}
	var ok bool
	if into.Value, ok = valueOf(&p.Type, into.Type, p.Value); !ok {
		return badValue(n, p.Name, &p.Type)
	}
	return nil
}

// tableOf converts a table-valued parameter. All its values lie in one slice.
func tableOf(n int, p *tds.Param) (*exec.TableValue, error) {
	if p.Table == nil {
		return &exec.TableValue{}, nil
	}
	t := p.Table
	v := &exec.TableValue{Schema: t.Schema, Name: t.Name, Columns: make([]types.Type, len(t.Columns))}
	for i := range t.Columns {
		typ, err := typeOf(&t.Columns[i].Type)
		if err != nil {
			return nil, err
		}
		if t.Defaulted(i) {
			return nil, sqlerr.Unsupported("table-valued parameter with a column that takes its default")
		}
		v.Columns[i] = typ
	}
	width := len(t.Columns)
	values := make([]types.Value, 0, width*t.Len())
	v.Rows = make([][]types.Value, 0, t.Len())
	err := t.Rows(func(raw []tds.Raw) error {
		for i := range raw {
			x, ok := valueOf(&t.Columns[i].Type, v.Columns[i], raw[i])
			if !ok {
				return badValue(n, p.Name, &t.Columns[i].Type)
			}
			values = append(values, x)
		}
		v.Rows = append(v.Rows, values[len(values)-width:len(values):len(values)])
		return nil
	})
	return v, err
}
