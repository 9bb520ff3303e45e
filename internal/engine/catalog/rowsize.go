package catalog

import (
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// maxRow is the largest row of a page, in bytes. Columns of variable length may
// lie outside of it.
const maxRow = 8060

// checkRowSize refuses a table whose rows cannot be stored however short their
// variable columns are: error 1701, or 41307 for a memory-optimized table.
func (t *Table) checkRowSize() error {
	size, bits := 0, 0
	for i := range t.Columns {
		typ := t.Columns[i].Type
		switch typ.Kind {
		case types.KindBit:
			bits++
		case types.KindVarChar, types.KindNVarChar, types.KindVarBinary, types.KindText, types.KindNText, types.KindImage, types.KindSQLVariant:
		default:
			size += max(int(typ.MaxLength()), 0)
		}
	}
	size += (bits + 7) / 8
	if t.MemoryOptimized {
		if size > maxRow {
			return sqlerr.New(41307, 16, 1, "The fixed columns of the memory-optimized table '%s' take %d bytes, more than the %d that a row may have.", t.Name, size, maxRow)
		}
		return nil
	}
	overhead := 6 + (len(t.Columns)+7)/8 // the row's header and its map of NULLs
	if size+overhead > maxRow {
		return sqlerr.New(1701, 16, 1, "Creating or altering table '%s' failed because the minimum row size would be %d, including %d bytes of internal overhead. This exceeds the maximum allowable table row size of %d bytes.",
			t.Name, size+overhead, overhead, maxRow)
	}
	return nil
}
