package catalog

import (
	"unicode/utf16"
	"unicode/utf8"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

const (
	// maxRow is the largest row of a page, in bytes. Columns of variable length
	// may lie outside of it, which leaves a pointer of outside bytes there.
	maxRow  = 8060
	outside = 24
)

// rowSizes are the bytes that the fixed columns take, with and without the row's
// header, and the number of variable columns.
func (t *Table) rowSizes() (fixed, overhead, variable int) {
	bits := 0
	for i := range t.Columns {
		switch typ := t.Columns[i].Type; {
		case typ.Kind == types.KindBit:
			bits++
		case varies(typ.Kind):
			variable++
		default:
			fixed += max(int(typ.MaxLength()), 0)
		}
	}
	return fixed + (bits+7)/8, 6 + (len(t.Columns)+7)/8, variable
}

func varies(k types.Kind) bool {
	switch k {
	case types.KindVarChar, types.KindNVarChar, types.KindVarBinary, types.KindText, types.KindNText, types.KindImage, types.KindSQLVariant:
		return true
	}
	return false
}

// checkRowSize refuses a table whose rows cannot be stored however short their
// variable columns are: error 1701, or 41307 for a memory-optimized table.
func (t *Table) checkRowSize() error {
	fixed, overhead, variable := t.rowSizes()
	if t.MemoryOptimized {
		if fixed > maxRow {
			return sqlerr.New(41307, 16, 1, "The fixed columns of the memory-optimized table '%s' take %d bytes, more than the %d that a row may have.", t.Name, fixed, maxRow)
		}
		return nil
	}
	if size := fixed + overhead; size > maxRow {
		return sqlerr.New(1701, 16, 1, "Creating or altering table '%s' failed because the minimum row size would be %d, including %d bytes of internal overhead. This exceeds the maximum allowable table row size of %d bytes.",
			t.Name, size, overhead, maxRow)
	}
	t.WideRows = fixed+overhead+2+variable*(2+outside) > maxRow
	return nil
}

// CheckRow is asked for the rows of a table with WideRows: error 511 when one is
// too large for a page with what can lie outside of it.
func (t *Table) CheckRow(row []types.Value) error {
	fixed, overhead, _ := t.rowSizes()
	size := fixed + overhead + 2
	for i := range t.Columns {
		if !varies(t.Columns[i].Type.Kind) || row[i].IsNull() {
			continue
		}
		n := outside
		switch v := row[i]; {
		case v.Kind() == types.KindNVarChar || v.Kind() == types.KindNChar:
			n = min(n, 2*len(utf16.Encode([]rune(beginning(v.Str())))))
		case v.Kind().IsString():
			n = min(n, len(v.Str()))
		case v.Kind().IsBinary():
			n = min(n, len(v.Bytes()))
		}
		size += 2 + n
	}
	if size > maxRow {
		return sqlerr.New(511, 16, 1, "Cannot create a row of size %d which is greater than the allowable maximum row size of %d.", size, maxRow)
	}
	return nil
}

// beginning is as much of a text as can matter.
func beginning(s string) string {
	if len(s) <= outside*utf8.UTFMax {
		return s
	}
	return s[:outside*utf8.UTFMax]
}
