package tdsclient

import (
	"fmt"

	"gostress/internal/tds"
)

// info is t's TYPE_INFO.
func (t *SQLType) info() (tds.TypeInfo, error) {
	fixed := func(id tds.TypeID, size int) (tds.TypeInfo, error) { return tds.TypeInfo{ID: id, Size: size}, nil }
	switch t.Name {
	case "tinyint":
		return fixed(tds.TypeIntN, 1)
	case "smallint":
		return fixed(tds.TypeIntN, 2)
	case "int":
		return fixed(tds.TypeIntN, 4)
	case "bigint":
		return fixed(tds.TypeIntN, 8)
	case "bit":
		return fixed(tds.TypeBitN, 1)
	case "real":
		return fixed(tds.TypeFloatN, 4)
	case "float":
		return fixed(tds.TypeFloatN, 8)
	case "smallmoney":
		return fixed(tds.TypeMoneyN, 4)
	case "money":
		return fixed(tds.TypeMoneyN, 8)
	case "smalldatetime":
		return fixed(tds.TypeDateTimeN, 4)
	case "datetime":
		return fixed(tds.TypeDateTimeN, 8)
	case "date":
		return fixed(tds.TypeDateN, 3)
	case "uniqueidentifier":
		return fixed(tds.TypeGUID, 16)
	case "xml":
		return fixed(tds.TypeXML, tds.SizeMax)
	case "image":
		return fixed(tds.TypeImage, 1<<31-1)
	case "timestamp", "rowversion":
		return fixed(tds.TypeBinary, 8)
	case "sql_variant":
		return fixed(tds.TypeVariant, 8009)
	case "text", "ntext":
		i := tds.TypeInfo{ID: tds.TypeText, Size: 1<<31 - 1, Collation: tds.DefaultCollation}
		if t.Name == "ntext" {
			i.ID = tds.TypeNText
		}
		return i, nil
	case "sysname":
		return tds.TypeInfo{ID: tds.TypeNVarChar, Size: 256, Collation: tds.DefaultCollation}, nil
	case "time", "datetime2", "datetimeoffset":
		return t.timeInfo()
	case "decimal", "numeric":
		i := tds.TypeInfo{ID: tds.TypeDecimalN, Prec: t.Prec, Scale: t.Scale}
		if t.Name == "numeric" {
			i.ID = tds.TypeNumericN
		}
		if i.Prec == 0 && i.Scale == 0 {
			i.Prec = 18
		}
		if i.Prec < 1 || i.Prec > 38 || i.Scale > i.Prec {
			return i, fmt.Errorf("%s(%d,%d) does not exist", t.Name, t.Prec, t.Scale)
		}
		i.Size = tds.DecimalSize(i.Prec)
		return i, nil
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		return t.sizedInfo()
	}
	return tds.TypeInfo{}, fmt.Errorf("a value of type %q cannot be sent", t.Name)
}

func (t *SQLType) timeInfo() (tds.TypeInfo, error) {
	i := tds.TypeInfo{ID: tds.TypeTimeN, Scale: t.Scale, Size: 5}
	switch {
	case t.Scale > 7:
		return i, fmt.Errorf("%s(%d) does not exist: the scale is 0 to 7", t.Name, t.Scale)
	case t.Scale <= 2:
		i.Size = 3
	case t.Scale <= 4:
		i.Size = 4
	}
	switch t.Name {
	case "datetime2":
		i.ID = tds.TypeDateTime2N
		i.Size += 3
	case "datetimeoffset":
		i.ID = tds.TypeDateTimeOffN
		i.Size += 5
	}
	return i, nil
}

func (t *SQLType) sizedInfo() (tds.TypeInfo, error) {
	i := tds.TypeInfo{Collation: tds.DefaultCollation}
	unit, varying := 1, true
	switch t.Name {
	case "char":
		i.ID, varying = tds.TypeChar, false
	case "varchar":
		i.ID = tds.TypeVarChar
	case "nchar":
		i.ID, unit, varying = tds.TypeNChar, 2, false
	case "nvarchar":
		i.ID, unit = tds.TypeNVarChar, 2
	case "binary":
		i.ID, varying = tds.TypeBinary, false
	case "varbinary":
		i.ID = tds.TypeVarBinary
	}
	switch n := int(t.Len) * unit; {
	case t.Len == 0:
		i.Size = 8000
	case t.Len == -1 && varying:
		i.Size = tds.SizeMax
	case n < 0 || n > 8000:
		return i, fmt.Errorf("%s(%d) does not exist", t.Name, t.Len)
	default:
		i.Size = n
	}
	if !i.HasCollation() {
		i.Collation = tds.Collation{}
	}
	return i, nil
}

// declaration is t as a declaration of sp_executesql has it.
func (t *SQLType) declaration() string {
	switch t.Name {
	case "time", "datetime2", "datetimeoffset":
		return fmt.Sprintf("%s(%d)", t.Name, t.Scale)
	case "decimal", "numeric":
		if t.Prec == 0 && t.Scale == 0 {
			return t.Name
		}
		return fmt.Sprintf("%s(%d,%d)", t.Name, t.Prec, t.Scale)
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		switch {
		case t.Len < 0:
			return t.Name + "(max)"
		case t.Len == 0 && t.Name[0] == 'n':
			return t.Name + "(4000)"
		case t.Len == 0:
			return t.Name + "(8000)"
		}
		return fmt.Sprintf("%s(%d)", t.Name, t.Len)
	}
	return t.Name
}
