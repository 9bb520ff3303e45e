package storage

import (
	"math"
	"unsafe"

	"gostress/internal/engine/types"
)

// form is how a column lies in a row.
type form uint8

const (
	form1       form = iota // one byte, unsigned: bit, tinyint
	form2                   // two bytes, signed
	form4                   // four bytes, signed
	form8                   // eight bytes: Value.Int and its like
	formReal                // float32
	formDec64               // a decimal of at most 18 digits: its coefficient
	formDec                 // a wider decimal: sign, high half, low half
	formDTO                 // datetimeoffset: ticks, minutes
	formGUID                // 16 bytes
	formVar                 // text or bytes
	formVariant             // sql_variant: kind, scale, offset, then the value
)

var formBytes = [...]int{form1: 1, form2: 2, form4: 4, form8: 8, formReal: 4, formDec64: 8, formDec: 17, formDTO: 10, formGUID: 16, formVar: 0, formVariant: 0}

func formOf(t types.Type) form {
	switch t.Kind {
	case types.KindBit, types.KindTinyInt:
		return form1
	case types.KindSmallInt:
		return form2
	case types.KindInt, types.KindSmallMoney, types.KindDate, types.KindSmallDateTime:
		return form4
	case types.KindBigInt, types.KindMoney, types.KindFloat, types.KindTime, types.KindDateTime2, types.KindDateTime:
		return form8
	case types.KindReal:
		return formReal
	case types.KindDecimal:
		if t.Prec <= 18 {
			return formDec64
		}
		return formDec
	case types.KindDateTimeOffset:
		return formDTO
	case types.KindUniqueIdentifier:
		return formGUID
	case types.KindSQLVariant:
		return formVariant
	}
	return formVar
}

// variable reports whether the column's bytes lie in the row's variable part.
func (f form) variable() bool { return f >= formVar }

// whole reports whether the stored number alone decides equality.
func (f form) whole() bool { return f <= form8 }

type field struct {
	form  form
	kind  types.Kind
	scale uint8
	coll  types.Collation
	off   uint32 // from the row's start; of variable columns the ordinal among them
}

// layout is where the columns of a row lie. Rows keep the layout they were
// written with.
type layout struct {
	version uint16
	fields  []field
	nulls   uint32 // the null bitmap
	ends    uint32 // the variable columns' ends; also the size of the part before
	vars    uint32
}

func newLayout(version uint16, links uint32, cols []Column) *layout {
	l := &layout{version: version, fields: make([]field, len(cols)), nulls: offLinks + links}
	off := l.nulls + uint32(len(cols)+7)/8
	for i, c := range cols {
		f := field{form: formOf(c.Type), kind: c.Type.Kind, scale: c.Type.Scale, coll: c.Type.Coll}
		if f.form.variable() {
			f.off = l.vars
			l.vars++
		} else {
			f.off = off
			off += uint32(formBytes[f.form])
		}
		l.fields[i] = f
	}
	l.ends = off
	return l
}

// fits reports whether v can be stored in the field as it is.
func (f *field) fits(v *types.Value) bool {
	k := v.Kind()
	switch f.form {
	case formDec64:
		if k != types.KindDecimal || v.Scale() != f.scale {
			return false
		}
		_, ok := v.Decimal64()
		return ok
	case formDec:
		return k == types.KindDecimal && v.Scale() == f.scale
	case form8:
		return k == f.kind && (v.Scale() == f.scale || k != types.KindDateTime2 && k != types.KindTime)
	case formVariant:
		return true
	}
	return k == f.kind
}

// sizes returns the bytes of the variable part and of the whole row.
func (l *layout) sizes(row []types.Value) (vars, whole int) {
	if l.vars == 0 {
		return 0, int(l.ends)
	}
	for i := range l.fields {
		if f := &l.fields[i]; f.form.variable() && !row[i].IsNull() {
			vars += varLen(f, &row[i])
		}
	}
	width := 2
	if vars > math.MaxUint16 {
		width = 4
	}
	return vars, int(l.ends) + int(l.vars)*width + vars
}

func varLen(f *field, v *types.Value) int {
	if f.form == formVariant {
		return variantLen(v)
	}
	if f.kind.IsString() {
		return len(v.Str())
	}
	return len(v.Bytes())
}

// encode writes the row's columns behind its header. vars is what sizes said.
func (l *layout) encode(p unsafe.Pointer, row []types.Value, vars int) {
	var flags uint16
	if vars > math.MaxUint16 {
		flags = flagWide
	}
	setLayout(p, l.version, flags)
	nulls := unsafe.Slice((*byte)(unsafe.Add(p, l.nulls)), (len(row)+7)/8)
	clear(nulls)
	width := uint32(2)
	if flags&flagWide != 0 {
		width = 4
	}
	data := l.ends + l.vars*width
	at := uint32(0)
	for i := range l.fields {
		f, v := &l.fields[i], &row[i]
		if v.IsNull() {
			nulls[i>>3] |= 1 << (i & 7)
		} else {
			at += f.put(p, v, data+at)
		}
		if f.form.variable() {
			if width == 2 {
				*(*uint16)(unsafe.Add(p, l.ends+f.off*2)) = uint16(at)
			} else {
				*(*uint32)(unsafe.Add(p, l.ends+f.off*4)) = at
			}
		}
	}
}

// put writes a value that is not NULL and returns how much of the variable
// part, at offset data, it took.
func (f *field) put(p unsafe.Pointer, v *types.Value, data uint32) uint32 {
	q := unsafe.Add(p, f.off)
	switch f.form {
	case form1:
		*(*uint8)(q) = uint8(v.Int())
	case form2:
		*(*int16)(q) = int16(v.Int())
	case form4:
		*(*int32)(q) = int32(v.Int())
	case form8:
		*(*int64)(q) = v.Int()
	case formReal:
		*(*float32)(q) = float32(v.Float())
	case formDec64:
		*(*int64)(q), _ = v.Decimal64()
	case formDec:
		neg, hi, lo, _ := v.DecimalParts()
		*(*bool)(q) = neg
		*(*uint64)(unsafe.Add(q, 1)) = hi
		*(*uint64)(unsafe.Add(q, 9)) = lo
	case formDTO:
		*(*int64)(q) = v.Ticks()
		*(*int16)(unsafe.Add(q, 8)) = int16(v.OffsetMinutes())
	case formGUID:
		*(*[16]byte)(q) = v.GUID()
	case formVariant:
		n := variantLen(v)
		putVariant(unsafe.Slice((*byte)(unsafe.Add(p, data)), n), v)
		return uint32(n)
	case formVar:
		if f.kind.IsString() {
			s := v.Str()
			copy(unsafe.Slice((*byte)(unsafe.Add(p, data)), len(s)), s)
			return uint32(len(s))
		}
		b := v.Bytes()
		copy(unsafe.Slice((*byte)(unsafe.Add(p, data)), len(b)), b)
		return uint32(len(b))
	}
	return 0
}

func (l *layout) isNull(p unsafe.Pointer, i int) bool {
	return *(*byte)(unsafe.Add(p, l.nulls+uint32(i>>3)))&(1<<(i&7)) != 0
}

// varBytes are a variable column's bytes in place.
func (l *layout) varBytes(p unsafe.Pointer, f *field) []byte {
	var from, to, data uint32
	if flagsOf(p)&flagWide == 0 {
		ends := (*uint16)(unsafe.Add(p, l.ends))
		to = uint32(*(*uint16)(unsafe.Add(unsafe.Pointer(ends), f.off*2)))
		if f.off > 0 {
			from = uint32(*(*uint16)(unsafe.Add(unsafe.Pointer(ends), f.off*2-2)))
		}
		data = l.ends + l.vars*2
	} else {
		ends := (*uint32)(unsafe.Add(p, l.ends))
		to = *(*uint32)(unsafe.Add(unsafe.Pointer(ends), f.off*4))
		if f.off > 0 {
			from = *(*uint32)(unsafe.Add(unsafe.Pointer(ends), f.off*4-4))
		}
		data = l.ends + l.vars*4
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, data+from)), to-from)
}

// get reads column i. The value stays good after the row is gone: text and
// bytes are copied.
func (l *layout) get(p unsafe.Pointer, i int) types.Value {
	f := &l.fields[i]
	if l.isNull(p, i) {
		return types.Value{}
	}
	switch f.form {
	case formVar:
		b := l.varBytes(p, f)
		if f.kind.IsString() {
			return types.NewString(f.kind, string(b))
		}
		return types.NewBytes(f.kind, append([]byte(nil), b...))
	case formVariant:
		return getVariant(append([]byte(nil), l.varBytes(p, f)...))
	}
	return f.fixed(unsafe.Add(p, f.off))
}

// view is get without copies: the value must not outlive the row.
func (l *layout) view(p unsafe.Pointer, i int) types.Value {
	f := &l.fields[i]
	if l.isNull(p, i) {
		return types.Value{}
	}
	switch f.form {
	case formVar:
		b := l.varBytes(p, f)
		if f.kind.IsString() {
			return types.NewString(f.kind, unsafe.String(unsafe.SliceData(b), len(b)))
		}
		return types.NewBytes(f.kind, b)
	case formVariant:
		return getVariant(l.varBytes(p, f))
	}
	return f.fixed(unsafe.Add(p, f.off))
}

// number reads the number of a whole form.
func (f *field) number(q unsafe.Pointer) int64 {
	switch f.form {
	case form1:
		return int64(*(*uint8)(q))
	case form2:
		return int64(*(*int16)(q))
	case form4:
		return int64(*(*int32)(q))
	}
	return *(*int64)(q)
}

func (f *field) fixed(q unsafe.Pointer) types.Value {
	switch f.form {
	case formReal:
		return types.NewReal(*(*float32)(q))
	case formDec64:
		return types.NewDecimal64(*(*int64)(q), f.scale)
	case formDec:
		return types.NewDecimalParts(*(*bool)(q), *(*uint64)(unsafe.Add(q, 1)), *(*uint64)(unsafe.Add(q, 9)), f.scale)
	case formDTO:
		return types.NewDateTimeOffset(*(*int64)(q), int(*(*int16)(unsafe.Add(q, 8))), f.scale)
	case formGUID:
		return types.NewGUID(*(*[16]byte)(q))
	}
	return numberValue(f.kind, f.scale, f.number(q))
}

// numberValue makes the value of a kind that is one number.
func numberValue(k types.Kind, scale uint8, n int64) types.Value {
	switch k {
	case types.KindMoney:
		return types.NewMoney(n)
	case types.KindSmallMoney:
		return types.NewSmallMoney(int32(n))
	case types.KindFloat:
		return types.NewFloat(math.Float64frombits(uint64(n)))
	case types.KindDate:
		return types.NewDate(n)
	case types.KindTime:
		return types.NewTime(n, scale)
	case types.KindDateTime2:
		return types.NewDateTime2(n, scale)
	case types.KindDateTime:
		return types.NewDateTime(0, n)
	case types.KindSmallDateTime:
		return types.NewSmallDateTime(0, n)
	}
	return types.NewInt(k, n)
}
