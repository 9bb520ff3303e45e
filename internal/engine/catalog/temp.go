package catalog

// TempTables are the #tables of one session, nested as procedures are: a
// procedure sees its callers' and loses its own on return. It is not safe for
// concurrent use.
type TempTables struct {
	levels []map[string]*Table
	names  map[int32]string
	nextID int32
}

// Enter begins a procedure's level.
func (t *TempTables) Enter() { t.levels = append(t.levels, nil) }

// Leave ends the innermost level and drops its tables.
func (t *TempTables) Leave() {
	if n := len(t.levels); n > 0 {
		t.levels = t.levels[:n-1]
	}
}

// Table finds a #table.
func (t *TempTables) Table(name string) (*Table, bool) {
	if t == nil {
		return nil, false
	}
	k := Fold(name)
	for i := len(t.levels) - 1; i >= 0; i-- {
		if tab, ok := t.levels[i][k]; ok {
			return tab, true
		}
	}
	return nil, false
}

// Clear drops everything: the session ends or is reset.
func (t *TempTables) Clear() { t.levels = nil }

// All returns the tables, innermost first.
func (t *TempTables) All() []*Table {
	if t == nil {
		return nil
	}
	var list []*Table
	for i := len(t.levels) - 1; i >= 0; i-- {
		for _, tab := range t.levels[i] {
			list = append(list, tab)
		}
	}
	return list
}

// Empty reports whether the session has no #table: then no lookup is needed.
func (t *TempTables) Empty() bool {
	if t == nil {
		return true
	}
	for _, l := range t.levels {
		if len(l) > 0 {
			return false
		}
	}
	return true
}
