// Package types has the engine's data types and values: how SQL Server
// converts, compares and computes with them. A Value takes 24 bytes and the
// common kinds are worked with without allocation.
package types

// Kind is a data type without its length, precision or scale.
type Kind uint8

// The kinds. The zero Kind is that of an untyped NULL.
const (
	KindNull Kind = iota
	KindBit
	KindTinyInt
	KindSmallInt
	KindInt
	KindBigInt
	KindDecimal // numeric too
	KindMoney
	KindSmallMoney
	KindFloat
	KindReal
	KindChar
	KindVarChar
	KindNChar
	KindNVarChar
	KindText
	KindNText
	KindBinary
	KindVarBinary
	KindImage
	KindDate
	KindTime
	KindDateTime2
	KindDateTimeOffset
	KindDateTime
	KindSmallDateTime
	KindUniqueIdentifier
	KindSQLVariant
	KindTable

	numKinds
)

// class groups kinds that are stored and converted alike.
type class uint8

const (
	classNull class = iota
	classInt
	classDecimal
	classMoney
	classFloat
	classString
	classBinary
	classTemporal
	classGUID
	classOther
)

type kindInfo struct {
	name  string
	class class
	rank  uint8 // data type precedence; the higher one wins
}

var kinds = [numKinds]kindInfo{
	KindNull:             {"NULL", classNull, 0},
	KindBit:              {"bit", classInt, 12},
	KindTinyInt:          {"tinyint", classInt, 13},
	KindSmallInt:         {"smallint", classInt, 14},
	KindInt:              {"int", classInt, 15},
	KindBigInt:           {"bigint", classInt, 16},
	KindDecimal:          {"decimal", classDecimal, 19},
	KindMoney:            {"money", classMoney, 18},
	KindSmallMoney:       {"smallmoney", classMoney, 17},
	KindFloat:            {"float", classFloat, 21},
	KindReal:             {"real", classFloat, 20},
	KindChar:             {"char", classString, 3},
	KindVarChar:          {"varchar", classString, 4},
	KindNChar:            {"nchar", classString, 5},
	KindNVarChar:         {"nvarchar", classString, 6},
	KindText:             {"text", classString, 9},
	KindNText:            {"ntext", classString, 10},
	KindBinary:           {"binary", classBinary, 1},
	KindVarBinary:        {"varbinary", classBinary, 2},
	KindImage:            {"image", classBinary, 8},
	KindDate:             {"date", classTemporal, 23},
	KindTime:             {"time", classTemporal, 22},
	KindDateTime2:        {"datetime2", classTemporal, 26},
	KindDateTimeOffset:   {"datetimeoffset", classTemporal, 27},
	KindDateTime:         {"datetime", classTemporal, 25},
	KindSmallDateTime:    {"smalldatetime", classTemporal, 24},
	KindUniqueIdentifier: {"uniqueidentifier", classGUID, 7},
	KindSQLVariant:       {"sql_variant", classOther, 28},
	KindTable:            {"table", classOther, 29},
}

func (k Kind) info() *kindInfo {
	if k >= numKinds {
		k = KindNull
	}
	return &kinds[k]
}

// String is the kind's name as sys.types spells it.
func (k Kind) String() string { return k.info().name }

// IsInt reports whether k is bit or an integer kind.
func (k Kind) IsInt() bool { return k.info().class == classInt }

// IsMoney reports whether k is money or smallmoney.
func (k Kind) IsMoney() bool { return k.info().class == classMoney }

// IsFloat reports whether k is float or real.
func (k Kind) IsFloat() bool { return k.info().class == classFloat }

// IsNumeric reports whether k is any number.
func (k Kind) IsNumeric() bool {
	c := k.info().class
	return c >= classInt && c <= classFloat
}

// IsString reports whether k is a character kind.
func (k Kind) IsString() bool { return k.info().class == classString }

// IsUnicode reports whether k is nchar, nvarchar or ntext.
func (k Kind) IsUnicode() bool { return k == KindNChar || k == KindNVarChar || k == KindNText }

// IsBinary reports whether k is binary, varbinary or image.
func (k Kind) IsBinary() bool { return k.info().class == classBinary }

// IsTemporal reports whether k is a date or time kind.
func (k Kind) IsTemporal() bool { return k.info().class == classTemporal }

// isLOB reports the three kinds that can be neither compared nor sorted.
func (k Kind) isLOB() bool { return k == KindText || k == KindNText || k == KindImage }

// SameClass reports whether values of two kinds can be compared as they are:
// both integers, both text, and so on.
func SameClass(a, b Kind) bool { return a.info().class == b.info().class }
