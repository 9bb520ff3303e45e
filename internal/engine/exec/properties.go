package exec

import (
	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

func colName(c call) (types.Value, error) {
	o, ok := c.byID(0, 9)
	if !ok {
		return types.Value{}, nil
	}
	id, ok := c.num(1)
	t, isTable := o.(*catalog.Table)
	if !ok || !isTable {
		return types.Value{}, nil
	}
	for i := range t.Columns {
		if int64(columnID(t, i)) == id {
			return nameValue(t.Columns[i].Name), nil
		}
	}
	return types.Value{}, nil
}

func columnID(t *catalog.Table, i int) int32 {
	if id := t.Columns[i].ID; id != 0 {
		return id
	}
	return int32(i) + 1
}

func colLength(c call) (types.Value, error) {
	text, ok := c.str(0)
	col, ok2 := c.str(1)
	if !ok || !ok2 {
		return types.Value{}, nil
	}
	o, ok := findObject(c, text)
	t, isTable := o.(*catalog.Table)
	if !ok || !isTable {
		return types.Value{}, nil
	}
	i := t.Column(col)
	if i < 0 {
		return types.Value{}, nil
	}
	return types.NewInt(types.KindSmallInt, int64(t.Columns[i].Type.MaxLength())), nil
}

func flagValue(b bool) types.Value {
	if b {
		return intValue(1)
	}
	return intValue(0)
}

func columnProperty(c call) (types.Value, error) {
	o, ok := c.byID(0, 9)
	col, ok2 := c.str(1)
	prop, ok3 := c.str(2)
	t, isTable := o.(*catalog.Table)
	if !ok || !ok2 || !ok3 || !isTable {
		return types.Value{}, nil
	}
	i := t.Column(col)
	if i < 0 {
		return types.Value{}, nil
	}
	k := &t.Columns[i]
	switch foldName(prop) {
	case "allowsnull":
		return flagValue(k.Nullable), nil
	case "columnid":
		return intValue(int64(columnID(t, i))), nil
	case "iscomputed":
		return flagValue(k.Computed != nil), nil
	case "isidentity":
		return flagValue(k.Identity), nil
	case "isrowguidcol":
		return flagValue(k.RowGUID), nil
	case "precision":
		return intValue(precision(k.Type)), nil
	case "scale":
		return intValue(int64(k.Type.Scale)), nil
	case "charmaxlen":
		if !k.Type.Kind.IsString() && !k.Type.Kind.IsBinary() {
			return types.Value{}, nil
		}
		return intValue(int64(k.Type.Len)), nil
	case "iscursortype", "isfulltextindexed", "isindexable", "isprecise", "issparse", "iscolumnset", "isxmlindexable", "ishidden", "generatedalwaystype":
		return flagValue(foldName(prop) == "isindexable"), nil
	}
	return types.Value{}, nil
}

// precision is COLUMNPROPERTY's Precision.
func precision(t types.Type) int64 {
	switch t.Kind {
	case types.KindBit:
		return 1
	case types.KindTinyInt:
		return 3
	case types.KindSmallInt:
		return 5
	case types.KindInt, types.KindSmallMoney:
		return 10
	case types.KindBigInt, types.KindMoney:
		return 19
	case types.KindReal:
		return 24
	case types.KindFloat:
		return 53
	case types.KindDate:
		return 10
	case types.KindDateTime:
		return 23
	case types.KindSmallDateTime:
		return 16
	case types.KindDecimal:
		return int64(t.Prec)
	}
	return int64(t.Len)
}

func objectProperty(c call) (types.Value, error) {
	o, ok := c.byID(0, 9)
	prop, ok2 := c.str(1)
	if !ok || !ok2 {
		return types.Value{}, nil
	}
	_, _, _, kind := describe(o)
	t, _ := o.(*catalog.Table)
	switch foldName(prop) {
	case "istable", "isusertable":
		return flagValue(kind == "U"), nil
	case "isview":
		return flagValue(kind == "V"), nil
	case "isprocedure":
		return flagValue(kind == "P"), nil
	case "isscalarfunction":
		return flagValue(kind == "FN"), nil
	case "isinlinefunction":
		return flagValue(kind == "IF"), nil
	case "istablefunction":
		return flagValue(kind == "IF" || kind == "TF"), nil
	case "isconstraint":
		return flagValue(kind == "PK" || kind == "UQ" || kind == "C" || kind == "D" || kind == "F"), nil
	case "isprimarykey":
		return flagValue(kind == "PK"), nil
	case "ismsshipped", "issystemtable":
		return flagValue(t != nil && t.System != nil), nil
	case "isschemabound":
		switch m := o.(type) {
		case *catalog.Procedure:
			return flagValue(m.SchemaBound), nil
		case *catalog.Function:
			return flagValue(m.SchemaBound), nil
		}
		return flagValue(t != nil && t.View != nil && t.View.SchemaBound), nil
	case "basetype":
		return nameValue(pad(kind, 2)), nil
	}
	if t == nil {
		return types.Value{}, nil
	}
	switch foldName(prop) {
	case "tablehasidentity":
		return flagValue(t.Identity != nil), nil
	case "tablehasprimarykey":
		return flagValue(t.PrimaryKey >= 0), nil
	case "tablehasclustindex":
		for i := range t.Indexes {
			if t.Indexes[i].Clustered {
				return intValue(1), nil
			}
		}
		return intValue(0), nil
	case "tablehasindex":
		return flagValue(len(t.Indexes) > 0), nil
	case "tablehasforeignkey":
		return flagValue(len(t.ForeignKeys) > 0), nil
	case "tablehascheckcnst":
		return flagValue(len(t.Checks) > 0), nil
	case "tableismemoryoptimized":
		return flagValue(t.MemoryOptimized), nil
	case "tablehastextimage":
		return flagValue(t.TextImageColumns), nil
	case "cardinality":
		if t.Data != nil {
			return types.NewInt(types.KindBigInt, t.Data.RowCount()), nil
		}
	}
	return types.Value{}, nil
}

func indexProperty(c call) (types.Value, error) {
	o, ok := c.byID(0, 9)
	name, ok2 := c.str(1)
	prop, ok3 := c.str(2)
	t, isTable := o.(*catalog.Table)
	if !ok || !ok2 || !ok3 || !isTable {
		return types.Value{}, nil
	}
	i := t.Index(name)
	if i < 0 {
		return types.Value{}, nil
	}
	x := &t.Indexes[i]
	switch foldName(prop) {
	case "indexid":
		return intValue(int64(x.ID)), nil
	case "isunique":
		return flagValue(x.Unique), nil
	case "isclustered":
		return flagValue(x.Clustered), nil
	case "isdisabled":
		return flagValue(x.Disabled), nil
	case "indexfillfactor":
		return intValue(int64(x.FillFactor)), nil
	case "ishypothetical", "isstatistics", "isfulltextkey", "iscolumnstore", "ispadindex":
		return intValue(0), nil
	}
	return types.Value{}, nil
}

func indexCol(c call) (types.Value, error) {
	text, ok := c.str(0)
	id, ok2 := c.num(1)
	key, ok3 := c.num(2)
	if !ok || !ok2 || !ok3 {
		return types.Value{}, nil
	}
	o, _ := findObject(c, text)
	t, isTable := o.(*catalog.Table)
	if !isTable {
		return types.Value{}, nil
	}
	for i := range t.Indexes {
		if x := &t.Indexes[i]; int64(x.ID) == id && key >= 1 && int(key) <= len(x.Columns) {
			return nameValue(t.Columns[x.Columns[key-1]].Name), nil
		}
	}
	return types.Value{}, nil
}
