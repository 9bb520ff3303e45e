package storage

import (
	"encoding/binary"

	"gostress/internal/engine/types"
)

// A sql_variant is stored as its base kind, scale and two bytes of offset,
// then eight bytes of number, or the text, bytes, GUID or wide decimal.
const variantHead = 4

func variantForm(k types.Kind) form {
	return formOf(types.Type{Kind: k, Prec: 38})
}

func variantLen(v *types.Value) int {
	switch f := variantForm(v.Kind()); f {
	case formVar:
		if v.Kind().IsString() {
			return variantHead + len(v.Str())
		}
		return variantHead + len(v.Bytes())
	case formDec, formGUID:
		return variantHead + formBytes[f]
	}
	return variantHead + 8
}

func putVariant(b []byte, v *types.Value) {
	b[0], b[1] = byte(v.Kind()), v.Scale()
	binary.LittleEndian.PutUint16(b[2:], uint16(v.OffsetMinutes()))
	d := b[variantHead:]
	switch variantForm(v.Kind()) {
	case formVar:
		if v.Kind().IsString() {
			copy(d, v.Str())
		} else {
			copy(d, v.Bytes())
		}
	case formDec:
		neg, hi, lo, _ := v.DecimalParts()
		d[0] = 0
		if neg {
			d[0] = 1
		}
		binary.LittleEndian.PutUint64(d[1:], hi)
		binary.LittleEndian.PutUint64(d[9:], lo)
	case formGUID:
		g := v.GUID()
		copy(d, g[:])
	default:
		binary.LittleEndian.PutUint64(d, uint64(v.Int()))
	}
}

// getVariant makes the value over b, which it keeps for text and bytes.
func getVariant(b []byte) types.Value {
	k, scale, off := types.Kind(b[0]), b[1], int(int16(binary.LittleEndian.Uint16(b[2:])))
	d := b[variantHead:]
	switch variantForm(k) {
	case formVar:
		if k.IsString() {
			return types.NewString(k, string(d))
		}
		return types.NewBytes(k, d)
	case formDec:
		return types.NewDecimalParts(d[0] != 0, binary.LittleEndian.Uint64(d[1:]), binary.LittleEndian.Uint64(d[9:]), scale)
	case formGUID:
		return types.NewGUID([16]byte(d))
	case formDTO:
		return types.NewDateTimeOffset(int64(binary.LittleEndian.Uint64(d)), off, scale)
	case formReal:
		return types.NewReal(float32(numberValue(types.KindFloat, 0, int64(binary.LittleEndian.Uint64(d))).Float()))
	}
	return numberValue(k, scale, int64(binary.LittleEndian.Uint64(d)))
}
