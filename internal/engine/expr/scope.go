package expr

import (
	"strings"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// Module is what all scopes of one compiled batch, procedure or function
// share: its variables, its table variables and the sizes of its frames.
type Module struct {
	vars      []Var
	varByName map[string]int
	tables    []TableVar
	tabByName map[string]int
	nextReg   int
	numRegs   int
	numOnce   int
	refs      []int
}

// Var is a declared variable or parameter.
type Var struct {
	Name string // with @, as declared
	Type types.Type
}

// TableVar is a declared table variable or table-valued parameter.
type TableVar struct {
	Name  string
	Table *catalog.Table
}

// NewModule makes a module without variables.
func NewModule() *Module {
	return &Module{varByName: map[string]int{}, tabByName: map[string]int{}}
}

// NumRegs is the number of registers its largest statement needs; it and its
// sisters are final once the whole module is compiled.
func (m *Module) NumRegs() int { return m.numRegs }

// NumVars is the number of variables and parameters.
func (m *Module) NumVars() int { return len(m.vars) }

// NumTables is the number of table variables.
func (m *Module) NumTables() int { return len(m.tables) }

// NumOnce is the number of slots for what is computed once per statement.
func (m *Module) NumOnce() int { return m.numOnce }

// Vars lists the variables by slot.
func (m *Module) Vars() []Var { return m.vars }

// TableVars lists the table variables by slot.
func (m *Module) TableVars() []TableVar { return m.tables }

// NewReg reserves a register of the current statement.
func (m *Module) NewReg() int {
	r := m.nextReg
	m.nextReg++
	m.numRegs = max(m.numRegs, m.nextReg)
	return r
}

// NewOnce reserves a slot for Frame.OnceValue.
func (m *Module) NewOnce() int {
	m.numOnce++
	return m.numOnce - 1
}

// NewStatement lets the registers be used again: no two statements of a frame
// run at the same time.
func (m *Module) NewStatement() {
	m.nextReg = 0
	m.refs = m.refs[:0]
}

// Refs are the registers that names have resolved to since NewStatement, in
// the order of compilation, subqueries included. The difference between two
// calls tells what an expression compiled between them reads.
func (m *Module) Refs() []int { return m.refs }

// Scope tells what names mean at one place of a statement: the columns of its
// sources, then those of the statements around it, and the module's variables.
type Scope struct {
	m       *Module
	parent  *Scope
	sources []Source
	// crossed counts the names that were resolved in a scope further out.
	crossed int
}

// SourceColumn is a column that a source offers.
type SourceColumn struct {
	Name     string
	Type     types.Type
	Nullable bool
}

// Source is one source of rows: a table, a view, a derived table.
type Source struct {
	Database, Schema string // "" when the source has an alias
	Name             string // the alias, or else the table's name
	Aliased          bool
	Columns          []SourceColumn
	Regs             []int // Regs[i] holds Columns[i]
}

// Ref is what a column name resolved to.
type Ref struct {
	Reg    int
	Column SourceColumn
	Source *Source
	Depth  int // 0 = this scope, 1 = the one around it ...
}

// NewScope makes the outermost scope of a module.
func NewScope(m *Module) *Scope { return &Scope{m: m} }

// Module is the module of the scope.
func (s *Scope) Module() *Module { return s.m }

// Parent is the scope around this one, or nil.
func (s *Scope) Parent() *Scope { return s.parent }

// Child makes the scope of a subquery within s.
func (s *Scope) Child() *Scope { return &Scope{m: s.m, parent: s} }

// Statement makes the scope of another statement of the module: without
// sources, with the registers free again.
func (s *Scope) Statement() *Scope {
	s.m.NewStatement()
	return &Scope{m: s.m}
}

// NewStatement forgets the scope's sources and frees the module's registers.
func (s *Scope) NewStatement() {
	s.m.NewStatement()
	s.sources, s.crossed = nil, 0
}

// Sources lists the scope's own sources in the order they were added.
func (s *Scope) Sources() []Source { return s.sources }

// Crossed is the number of names that scopes within this one have resolved in
// scopes around it, itself included: a subquery is correlated when compiling
// it raises the number.
func (s *Scope) Crossed() int { return s.crossed }

// AddSource adds a source that has an alias and returns the registers of its
// columns. A second source of the same name is error 1011.
func (s *Scope) AddSource(alias string, cols []SourceColumn) ([]int, error) {
	return s.add(Source{Name: alias, Aliased: true, Columns: cols})
}

// AddTable adds a table without an alias: its columns can be named by
// schema.table.column too. A second table with the same exposed name is error
// 1013.
func (s *Scope) AddTable(database, schema, name string, cols []SourceColumn) ([]int, error) {
	return s.add(Source{Database: database, Schema: schema, Name: name, Columns: cols})
}

func (s *Scope) add(src Source) ([]int, error) {
	for i := range s.sources {
		o := &s.sources[i]
		if src.Name == "" || !strings.EqualFold(o.Name, src.Name) {
			continue
		}
		if src.Aliased && o.Aliased {
			return nil, sqlerr.DuplicateAlias(src.Name)
		}
		if src.Aliased || o.Aliased || (strings.EqualFold(o.Schema, src.Schema) && strings.EqualFold(o.Database, src.Database)) {
			return nil, sqlerr.DuplicateExposedName(src.Name, o.Name)
		}
	}
	src.Regs = make([]int, len(src.Columns))
	for i := range src.Regs {
		src.Regs[i] = s.m.NewReg()
	}
	s.sources = append(s.sources, src)
	return src.Regs, nil
}

// AddMapped adds a source whose columns are in registers that exist already.
func (s *Scope) AddMapped(alias string, cols []SourceColumn, regs []int) {
	s.sources = append(s.sources, Source{Name: alias, Aliased: true, Columns: cols, Regs: regs})
}

// DeclareVar declares a variable, with its @. A second one of the name is
// error 134.
func (s *Scope) DeclareVar(name string, t types.Type) (int, error) {
	key := strings.ToLower(name)
	if _, ok := s.m.varByName[key]; ok {
		return 0, sqlerr.DuplicateVariable(name)
	}
	if _, ok := s.m.tabByName[key]; ok {
		return 0, sqlerr.DuplicateVariable(name)
	}
	s.m.vars = append(s.m.vars, Var{Name: name, Type: t})
	s.m.varByName[key] = len(s.m.vars) - 1
	return len(s.m.vars) - 1, nil
}

// LookupVar finds a variable.
func (s *Scope) LookupVar(name string) (slot int, t types.Type, ok bool) {
	slot, ok = s.m.varByName[name]
	if !ok {
		slot, ok = s.m.varByName[strings.ToLower(name)]
	}
	if !ok {
		return 0, types.Null, false
	}
	return slot, s.m.vars[slot].Type, true
}

// DeclareTable declares a table variable.
func (s *Scope) DeclareTable(name string, t *catalog.Table) (int, error) {
	key := strings.ToLower(name)
	if _, ok := s.m.varByName[key]; ok {
		return 0, sqlerr.DuplicateVariable(name)
	}
	if _, ok := s.m.tabByName[key]; ok {
		return 0, sqlerr.DuplicateVariable(name)
	}
	s.m.tables = append(s.m.tables, TableVar{Name: name, Table: t})
	s.m.tabByName[key] = len(s.m.tables) - 1
	return len(s.m.tables) - 1, nil
}

// LookupTable finds a table variable.
func (s *Scope) LookupTable(name string) (slot int, t *catalog.Table, ok bool) {
	slot, ok = s.m.tabByName[strings.ToLower(name)]
	if !ok {
		return 0, nil, false
	}
	return slot, s.m.tables[slot].Table, true
}

// Resolve finds a column by its parts: column, table.column,
// schema.table.column or database.schema.table.column. Names are looked up in
// this scope first and then outwards. Errors: 207, 209, 4104.
func (s *Scope) Resolve(parts []string) (Ref, error) {
	name := parts[len(parts)-1]
	for sc, depth := s, 0; sc != nil; sc, depth = sc.parent, depth+1 {
		src, col, err := sc.find(parts)
		if err != nil {
			return Ref{}, err
		}
		if src == nil {
			continue
		}
		for in := s; in != sc; in = in.parent {
			in.parent.crossed++
			if in.parent == sc {
				break
			}
		}
		reg := src.Regs[col]
		s.m.refs = append(s.m.refs, reg)
		return Ref{Reg: reg, Column: src.Columns[col], Source: src, Depth: depth}, nil
	}
	if len(parts) > 1 {
		// Where the table is known, it is the column that is not.
		for sc := s; sc != nil; sc = sc.parent {
			for i := range sc.sources {
				if sc.sources[i].answersTo(parts[:len(parts)-1]) {
					return Ref{}, sqlerr.InvalidColumn(name)
				}
			}
		}
		return Ref{}, sqlerr.Unbound(strings.Join(parts, "."))
	}
	return Ref{}, sqlerr.InvalidColumn(name)
}

func (s *Scope) find(parts []string) (*Source, int, error) {
	name, qual := parts[len(parts)-1], parts[:len(parts)-1]
	var src *Source
	var col int
	for i := range s.sources {
		o := &s.sources[i]
		if len(qual) > 0 && !o.answersTo(qual) {
			continue
		}
		for j := range o.Columns {
			if !strings.EqualFold(o.Columns[j].Name, name) {
				continue
			}
			if src != nil {
				return nil, 0, sqlerr.AmbiguousColumn(name)
			}
			src, col = o, j
		}
	}
	return src, col, nil
}

// answersTo reports whether a qualifier of one to three parts names the source.
func (o *Source) answersTo(qual []string) bool {
	if !strings.EqualFold(o.Name, qual[len(qual)-1]) {
		return false
	}
	if len(qual) > 1 {
		if o.Aliased || (qual[len(qual)-2] != "" && !strings.EqualFold(o.Schema, qual[len(qual)-2])) {
			return false
		}
	}
	if len(qual) > 2 && qual[len(qual)-3] != "" && !strings.EqualFold(o.Database, qual[len(qual)-3]) {
		return false
	}
	return true
}
