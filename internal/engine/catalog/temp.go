package catalog

// TempTables are the #tables of one session, nested as procedures are: a
// procedure sees its callers' and loses its own on return. The zero value is
// ready. It is not safe for concurrent use.
type TempTables struct {
	levels []map[string]*Table // levels[0] is the batch's
	lastID int32
	count  int
}

// Enter begins a procedure's level.
func (t *TempTables) Enter() {
	if len(t.levels) == 0 {
		t.levels = append(t.levels, nil)
	}
	t.levels = append(t.levels, nil)
}

// Leave ends the innermost level and drops its tables.
func (t *TempTables) Leave() {
	if n := len(t.levels); n > 1 {
		for _, tab := range t.levels[n-1] {
			tab.Data.Close()
			t.count--
		}
		t.levels = t.levels[:n-1]
	}
}

// Table finds a #table by its name, the innermost first.
func (t *TempTables) Table(name string) (*Table, bool) {
	if t.Empty() {
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

// ByID finds a #table by its object id.
func (t *TempTables) ByID(id int32) (*Table, bool) {
	for _, tab := range t.All() {
		if tab.ID == id {
			return tab, true
		}
	}
	return nil, false
}

// Clear drops everything: the session ends or is reset.
func (t *TempTables) Clear() {
	for _, tab := range t.All() {
		tab.Data.Close()
	}
	t.levels, t.count = nil, 0
}

// All returns the tables, innermost first.
func (t *TempTables) All() []*Table {
	if t.Empty() {
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
func (t *TempTables) Empty() bool { return t == nil || t.count == 0 }

// here reports whether the innermost level has the name.
func (t *TempTables) here(name string) bool {
	if n := len(t.levels); n > 0 {
		_, ok := t.levels[n-1][Fold(name)]
		return ok
	}
	return false
}

// newID makes an object id; those of temporary objects are negative.
func (t *TempTables) newID() int32 {
	if t.lastID == 0 || t.lastID > -100 {
		t.lastID = -1<<31 + 1
	}
	t.lastID += 1 << 8
	return t.lastID
}

func (t *TempTables) put(u *Undo, tab *Table) {
	if len(t.levels) == 0 {
		t.levels = append(t.levels, nil)
	}
	n := len(t.levels) - 1
	if t.levels[n] == nil {
		t.levels[n] = map[string]*Table{}
	}
	k := Fold(tab.Name)
	t.levels[n][k] = tab
	t.count++
	u.add(func() {
		if n < len(t.levels) && t.levels[n][k] == tab {
			delete(t.levels[n], k)
			t.count--
			tab.Data.Close()
		}
	})
}

// replace publishes a changed table under the name of an old one.
func (t *TempTables) replace(u *Undo, old, tab *Table) {
	for n := len(t.levels) - 1; n >= 0; n-- {
		k := Fold(old.Name)
		if t.levels[n][k] == old {
			t.levels[n][k] = tab
			u.add(func() {
				if n < len(t.levels) && t.levels[n][k] == tab {
					t.levels[n][k] = old
				}
			})
			return
		}
	}
}

// drop removes a table. Its data goes when the transaction ends.
func (t *TempTables) drop(u *Undo, tab *Table) {
	k := Fold(tab.Name)
	for n := len(t.levels) - 1; n >= 0; n-- {
		if t.levels[n][k] != tab {
			continue
		}
		delete(t.levels[n], k)
		t.count--
		u.add(func() {
			if n < len(t.levels) {
				t.levels[n][k] = tab
				t.count++
			}
		})
		u.retire(tab.Data)
		return
	}
}
