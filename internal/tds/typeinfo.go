package tds

import (
	"encoding/binary"
	"fmt"
)

// TypeID is the first byte of a TYPE_INFO.
type TypeID byte

// The types of TDS 7.
const (
	TypeNull         TypeID = 0x1F
	TypeInt1         TypeID = 0x30
	TypeBit          TypeID = 0x32
	TypeInt2         TypeID = 0x34
	TypeInt4         TypeID = 0x38
	TypeDateTime4    TypeID = 0x3A
	TypeFloat4       TypeID = 0x3B
	TypeMoney        TypeID = 0x3C
	TypeDateTime     TypeID = 0x3D
	TypeFloat8       TypeID = 0x3E
	TypeMoney4       TypeID = 0x7A
	TypeInt8         TypeID = 0x7F
	TypeImage        TypeID = 0x22
	TypeText         TypeID = 0x23
	TypeGUID         TypeID = 0x24
	TypeVarBinary1   TypeID = 0x25 // legacy, lengths of one byte
	TypeIntN         TypeID = 0x26
	TypeVarChar1     TypeID = 0x27 // legacy
	TypeDateN        TypeID = 0x28
	TypeTimeN        TypeID = 0x29
	TypeDateTime2N   TypeID = 0x2A
	TypeDateTimeOffN TypeID = 0x2B
	TypeBinary1      TypeID = 0x2D // legacy
	TypeChar1        TypeID = 0x2F // legacy
	TypeDecimal      TypeID = 0x37 // legacy
	TypeNumeric      TypeID = 0x3F // legacy
	TypeVariant      TypeID = 0x62
	TypeNText        TypeID = 0x63
	TypeBitN         TypeID = 0x68
	TypeDecimalN     TypeID = 0x6A
	TypeNumericN     TypeID = 0x6C
	TypeFloatN       TypeID = 0x6D
	TypeMoneyN       TypeID = 0x6E
	TypeDateTimeN    TypeID = 0x6F
	TypeVarBinary    TypeID = 0xA5
	TypeVarChar      TypeID = 0xA7
	TypeBinary       TypeID = 0xAD
	TypeChar         TypeID = 0xAF
	TypeNVarChar     TypeID = 0xE7
	TypeNChar        TypeID = 0xEF
	TypeUDT          TypeID = 0xF0
	TypeXML          TypeID = 0xF1
	TypeTable        TypeID = 0xF3
)

// SizeMax in TypeInfo.Size is a MAX type: its values come in chunks (PLP).
const SizeMax = -1

// TypeInfo describes a column or parameter.
type TypeInfo struct {
	ID        TypeID
	Size      int // largest value in bytes; SizeMax for the MAX types
	Prec      uint8
	Scale     uint8
	Collation Collation
}

// lengthKind is how a type's values say how long they are.
type lengthKind uint8

const (
	lenUnknown lengthKind = iota
	lenFixed              // no length; TypeInfo.Size bytes
	lenByte               // one byte, 0 = NULL
	lenByteFF             // one byte, 0xFF = NULL (legacy char and binary)
	lenShort              // two bytes, 0xFFFF = NULL
	lenLong               // text pointer and four bytes in rows, four bytes in parameters
	lenPLP                // chunks
	lenVariant            // four bytes, 0 = NULL
	lenTable              // a table-valued parameter
)

// fixedSizes gives the sizes of the types that have no length; read only.
var fixedSizes = map[TypeID]int{
	TypeNull: 0, TypeInt1: 1, TypeBit: 1, TypeInt2: 2, TypeInt4: 4, TypeInt8: 8,
	TypeDateTime4: 4, TypeDateTime: 8, TypeFloat4: 4, TypeFloat8: 8, TypeMoney4: 4, TypeMoney: 8,
}

func (t *TypeInfo) lengthKind() lengthKind {
	switch t.ID {
	case TypeNull, TypeInt1, TypeBit, TypeInt2, TypeInt4, TypeInt8, TypeDateTime4, TypeDateTime, TypeFloat4, TypeFloat8, TypeMoney4, TypeMoney:
		return lenFixed
	case TypeGUID, TypeIntN, TypeBitN, TypeDecimalN, TypeNumericN, TypeDecimal, TypeNumeric, TypeFloatN, TypeMoneyN, TypeDateTimeN,
		TypeDateN, TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
		return lenByte
	case TypeVarBinary1, TypeVarChar1, TypeBinary1, TypeChar1:
		return lenByteFF
	case TypeVarBinary, TypeVarChar, TypeNVarChar:
		if t.Size == SizeMax {
			return lenPLP
		}
		return lenShort
	case TypeBinary, TypeChar, TypeNChar:
		return lenShort
	case TypeText, TypeNText, TypeImage:
		return lenLong
	case TypeXML, TypeUDT:
		return lenPLP
	case TypeVariant:
		return lenVariant
	case TypeTable:
		return lenTable
	}
	return lenUnknown
}

// HasCollation reports whether the type carries a collation.
func (t *TypeInfo) HasCollation() bool {
	switch t.ID {
	case TypeVarChar, TypeChar, TypeNVarChar, TypeNChar, TypeText, TypeNText:
		return true
	}
	return false
}

// Name is the type's name in T-SQL, for messages.
func (t *TypeInfo) Name() string {
	switch t.ID {
	case TypeNull:
		return "null"
	case TypeIntN, TypeInt1, TypeInt2, TypeInt4, TypeInt8:
		switch t.Size {
		case 1:
			return "tinyint"
		case 2:
			return "smallint"
		case 8:
			return "bigint"
		}
		return "int"
	case TypeBit, TypeBitN:
		return "bit"
	case TypeFloat4, TypeFloat8, TypeFloatN:
		if t.Size == 4 {
			return "real"
		}
		return "float"
	case TypeMoney, TypeMoney4, TypeMoneyN:
		if t.Size == 4 {
			return "smallmoney"
		}
		return "money"
	case TypeDateTime, TypeDateTime4, TypeDateTimeN:
		if t.Size == 4 {
			return "smalldatetime"
		}
		return "datetime"
	case TypeDecimal, TypeDecimalN:
		return fmt.Sprintf("decimal(%d,%d)", t.Prec, t.Scale)
	case TypeNumeric, TypeNumericN:
		return fmt.Sprintf("numeric(%d,%d)", t.Prec, t.Scale)
	case TypeGUID:
		return "uniqueidentifier"
	case TypeDateN:
		return "date"
	case TypeTimeN:
		return fmt.Sprintf("time(%d)", t.Scale)
	case TypeDateTime2N:
		return fmt.Sprintf("datetime2(%d)", t.Scale)
	case TypeDateTimeOffN:
		return fmt.Sprintf("datetimeoffset(%d)", t.Scale)
	case TypeText:
		return "text"
	case TypeNText:
		return "ntext"
	case TypeImage:
		return "image"
	case TypeVariant:
		return "sql_variant"
	case TypeXML:
		return "xml"
	case TypeUDT:
		return "CLR user-defined type"
	case TypeTable:
		return "table type"
	case TypeVarChar, TypeVarChar1:
		return t.sized("varchar", 1)
	case TypeChar, TypeChar1:
		return t.sized("char", 1)
	case TypeNVarChar:
		return t.sized("nvarchar", 2)
	case TypeNChar:
		return t.sized("nchar", 2)
	case TypeVarBinary, TypeVarBinary1:
		return t.sized("varbinary", 1)
	case TypeBinary, TypeBinary1:
		return t.sized("binary", 1)
	}
	return fmt.Sprintf("type 0x%02X", byte(t.ID))
}

func (t *TypeInfo) sized(name string, unit int) string {
	if t.Size == SizeMax {
		return name + "(max)"
	}
	return fmt.Sprintf("%s(%d)", name, t.Size/unit)
}

// scaleBytes is how many bytes a time of that scale takes.
func scaleBytes(scale uint8) int {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	}
	return 5
}

// DecimalSize is the largest size in bytes, sign included, of a decimal of that precision.
func DecimalSize(prec uint8) int {
	switch {
	case prec <= 9:
		return 5
	case prec <= 19:
		return 9
	case prec <= 28:
		return 13
	}
	return 17
}

// AppendTypeInfo appends t's TYPE_INFO; not for table types.
func AppendTypeInfo(b []byte, t *TypeInfo) []byte {
	b = append(b, byte(t.ID))
	switch t.lengthKind() {
	case lenFixed:
		return b
	case lenByte:
		switch t.ID {
		case TypeDateN:
			return b
		case TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
			return append(b, t.Scale)
		case TypeDecimal, TypeDecimalN, TypeNumeric, TypeNumericN:
			return append(b, byte(t.Size), t.Prec, t.Scale)
		}
		return append(b, byte(t.Size))
	case lenByteFF:
		return append(b, byte(t.Size))
	case lenLong, lenVariant:
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Size))
	case lenPLP:
		switch t.ID {
		case TypeXML:
			return append(b, 0) // no schema
		case TypeUDT:
			return append(b, 0xFF, 0xFF, 0, 0, 0)
		}
		b = append(b, 0xFF, 0xFF)
	default:
		b = binary.LittleEndian.AppendUint16(b, uint16(t.Size))
	}
	if t.HasCollation() {
		b = append(b, t.Collation[:]...)
	}
	return b
}

// TypeInfo reads a TYPE_INFO. Of a table type it reads the first byte only.
func (d *Decoder) TypeInfo() TypeInfo {
	t := TypeInfo{ID: TypeID(d.Byte())}
	if d.err != nil {
		return t
	}
	switch t.lengthKind() {
	case lenFixed:
		t.Size = fixedSizes[t.ID]
	case lenByte:
		switch t.ID {
		case TypeDateN:
			t.Size = 3
		case TypeTimeN, TypeDateTime2N, TypeDateTimeOffN:
			t.Scale = d.Byte()
			if t.Scale > 7 {
				d.fail("TYPE_INFO", "%s has a scale of %d", t.Name(), t.Scale)
			}
			t.Size = scaleBytes(t.Scale)
			switch t.ID {
			case TypeDateTime2N:
				t.Size += 3
			case TypeDateTimeOffN:
				t.Size += 5
			}
		case TypeDecimal, TypeDecimalN, TypeNumeric, TypeNumericN:
			t.Size, t.Prec, t.Scale = int(d.Byte()), d.Byte(), d.Byte()
			if d.err == nil && (t.Prec == 0 || t.Prec > 38 || t.Scale > t.Prec) {
				d.fail("TYPE_INFO", "%s does not exist", t.Name())
			}
		default:
			t.Size = int(d.Byte())
			if d.err == nil && !validSize(t.ID, t.Size) {
				d.fail("TYPE_INFO", "type 0x%02X has a size of %d", byte(t.ID), t.Size)
			}
		}
	case lenByteFF:
		t.Size = int(d.Byte())
	case lenShort: // MAX types come here too: the size tells
		t.Size = int(d.Uint16())
		if t.Size == 0xFFFF {
			t.Size = SizeMax
			if k := t.ID; k == TypeBinary || k == TypeChar || k == TypeNChar {
				d.fail("TYPE_INFO", "type 0x%02X has no MAX", byte(k))
			}
		}
	case lenLong, lenVariant:
		n := d.Uint32()
		t.Size = int(n & 0x7FFFFFFF)
	case lenPLP:
		t.Size = SizeMax
		if t.ID == TypeUDT {
			d.Uint16()
			d.BVarChar()
			d.BVarChar()
			d.BVarChar()
			d.USVarChar()
			return t
		}
		if d.Byte() != 0 { // XML with a schema
			d.BVarChar()
			d.BVarChar()
			d.USVarChar()
		}
	case lenTable:
	default:
		d.fail("TYPE_INFO", "unknown type 0x%02X", byte(t.ID))
	}
	if t.HasCollation() {
		copy(t.Collation[:], d.Take(5))
	}
	return t
}

func validSize(id TypeID, n int) bool {
	switch id {
	case TypeIntN:
		return n == 1 || n == 2 || n == 4 || n == 8
	case TypeBitN:
		return n == 1
	case TypeFloatN, TypeMoneyN, TypeDateTimeN:
		return n == 4 || n == 8
	case TypeGUID:
		return n == 16
	}
	return true
}
