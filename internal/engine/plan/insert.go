package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// inserter puts rows into a target: given values, defaults, identity.
type inserter struct {
	*target
	cols     []int     // that are given, in the order of their values
	given    []colConv // of a row of expressions; nil when rows come as values
	defaults []colConv // of the columns that are not given
	identity int       // the identity column, -1 = none
	explicit bool      // a value is given for it
	// last is the register of the last identity value this statement gave to a
	// table variable: the statement does not see its own rows. -1 = none.
	last int
	out  *output
}

// newInserter prepares an INSERT into the given columns; without a list the
// columns are all that take a value. Error 8101: n, the number of values, can
// only mean that one is for the identity column.
func (b *block) newInserter(tg *target, cols []int, listed bool, n int) (*inserter, error) {
	in := &inserter{target: tg, cols: cols, identity: -1, last: -1}
	if tg.t.Identity != nil {
		in.identity = tg.t.Identity.Column
		if tg.slot >= 0 {
			in.last = b.c.regs(1)
		}
	}
	if !listed {
		all := 0
		for i := range tg.t.Columns {
			if tg.t.Columns[i].Computed != nil {
				continue
			}
			all++
			if i != in.identity {
				in.cols = append(in.cols, i)
			}
		}
		if n == all && in.identity >= 0 && n > len(in.cols) {
			return nil, sqlerr.New(8101, 16, 1, "An explicit value for the identity column in table '%s' can only be given when a column list is used and IDENTITY_INSERT is ON.", tg.fullName())
		}
	}
	has := make([]bool, len(tg.t.Columns))
	for _, c := range in.cols {
		has[c] = true
		in.explicit = in.explicit || c == in.identity
	}
	for i := range tg.t.Columns {
		if has[i] || i == in.identity || tg.t.Columns[i].Computed != nil {
			continue
		}
		d, err := b.defaultFor(tg, i)
		if err != nil {
			return nil, err
		}
		in.defaults = append(in.defaults, d)
	}
	return in, nil
}

// identityInsert checks IDENTITY_INSERT before the first row. Errors: 544 a
// value is given though it is OFF, 545 none is though it is ON.
func (in *inserter) identityInsert(f *expr.Frame) error {
	if in.identity < 0 {
		return nil
	}
	if in.last >= 0 {
		f.Regs[in.last] = nullValue
	}
	on := false
	if h, ok := f.Session.(Host); ok && in.slot < 0 {
		on = h.IdentityInsert(in.t)
	}
	switch {
	case in.explicit && !on:
		return sqlerr.New(544, 16, 1, "An explicit value for the identity column in table '%s' cannot be inserted when IDENTITY_INSERT is OFF.", in.t.Name)
	case !in.explicit && on:
		return sqlerr.New(545, 16, 1, "An explicit value must be given for the identity column in table '%s' when IDENTITY_INSERT is ON.", in.t.Name)
	}
	return nil
}

// insert puts one row into the table: the values of given, or row. late
// collects keys into the table itself; nil looks them up at once.
func (in *inserter) insert(f *expr.Frame, undo *[]storage.RowID, late *[]lateKey) error {
	row := in.row(f)
	for i := range in.given {
		c := &in.given[i]
		v, err := c.eval(f)
		if err != nil {
			return err
		}
		row[c.ord] = v
	}
	return in.put(f, row, undo, late)
}

// put completes a row whose given columns are set and inserts it.
func (in *inserter) put(f *expr.Frame, row []types.Value, undo *[]storage.RowID, late *[]lateKey) error {
	for i := range in.defaults {
		c := &in.defaults[i]
		v, err := c.eval(f)
		if err != nil {
			return err
		}
		row[c.ord] = v
	}
	data := in.data(f)
	if in.identity >= 0 {
		if err := in.identify(f, data, row); err != nil {
			return err
		}
	}
	if err := in.finish(f, "INSERT"); err != nil {
		return err
	}
	if len(in.parents) > 0 {
		if err := in.checkParents(f, row, nil, "INSERT", late); err != nil {
			return err
		}
	}
	id, err := data.Insert(f.Tx, row)
	if err != nil {
		return in.duplicate(err, row)
	}
	if undo != nil && in.slot >= 0 {
		*undo = append(*undo, id)
	}
	if len(in.parents) > 0 {
		return in.settleParents(f, row, nil, "INSERT")
	}
	return nil
}

// identify gives the row its identity value.
func (in *inserter) identify(f *expr.Frame, data *storage.Table, row []types.Value) error {
	id, col := in.t.Identity, &in.t.Columns[in.identity]
	if in.explicit {
		v := row[in.identity]
		if n, ok := whole(v); ok {
			id.Explicit(n)
		}
		f.Identity = v
		return nil
	}
	var n int64
	if in.last >= 0 {
		if last := f.Regs[in.last]; !last.IsNull() {
			n = last.Int() + id.Increment
		} else {
			var err error
			if n, err = nextLocal(f, in.t, data); err != nil {
				return err
			}
		}
		f.Regs[in.last] = types.NewInt(types.KindBigInt, n)
	} else {
		n = id.Next()
	}
	v := types.NewInt(col.Type.Kind, n)
	lo, hi := types.IntRange(col.Type.Kind)
	var err error
	if !col.Type.Kind.IsInt() {
		v, err = types.Assign(types.NewInt(types.KindBigInt, n), col.Type)
	}
	if err != nil || n < lo || n > hi {
		return sqlerr.New(8115, 16, 1, "Arithmetic overflow while converting IDENTITY to data type %s.", col.Type.Name())
	}
	row[in.identity] = v
	f.Identity = v
	return nil
}

// whole is the number of an identity value.
func whole(v types.Value) (int64, bool) {
	switch {
	case v.Kind().IsInt():
		return v.Int(), true
	case v.Kind() == types.KindDecimal && v.Scale() == 0:
		return v.Decimal64()
	}
	return 0, false
}

// nextLocal is the next identity value of a table variable. The definition is
// shared by every activation of the module, so the rows tell.
func nextLocal(f *expr.Frame, t *catalog.Table, data *storage.Table) (int64, error) {
	id := t.Identity
	next := id.Seed
	val := make([]types.Value, 1)
	cols := []int{id.Column}
	take := func(row storage.RowID) (bool, error) {
		data.Read(row, cols, val)
		if n, ok := whole(val[0]); ok && (id.Increment > 0 && n >= next || id.Increment < 0 && n <= next) {
			next = n + id.Increment
		}
		return true, nil
	}
	for i := range t.Indexes {
		ix := &t.Indexes[i]
		if !ix.Hash && ix.Columns[0] == id.Column {
			desc := len(ix.Desc) > 0 && ix.Desc[0]
			reverse := (id.Increment > 0) != desc
			err := data.Range(f.Tx, i, storage.Bound{}, storage.Bound{}, reverse, func(row storage.RowID) (bool, error) {
				_, err := take(row)
				return false, err
			})
			return next, err
		}
	}
	return next, data.Scan(f.Tx, take)
}

func (c *Compiler) insertStatement(s *ast.InsertStatement) (*DML, error) {
	b := c.begin()
	d, err := b.insert(s)
	return d, sqlerr.AtLine(err, tsql.Line(s))
}

func (b *block) insert(s *ast.InsertStatement) (*DML, error) {
	spec := s.InsertSpecification
	h, err := readQueryHints(s.OptimizerHints)
	if err != nil {
		return nil, err
	}
	b.st.hints = h
	if err := b.st.withCTEs(b, s.WithCtesAndXmlNamespaces); err != nil {
		return nil, err
	}
	t, slot, err := b.dmlTarget(spec.Target)
	if err != nil {
		return nil, err
	}
	tg, err := b.newTarget(t, slot, "INSERT")
	if err != nil {
		return nil, err
	}
	cols, err := tg.targetColumns(spec.Columns)
	if err != nil {
		return nil, err
	}
	p := &insertPlan{}
	listed := len(spec.Columns) > 0
	if spec.TopRowFilter != nil {
		if p.top, err = b.rowCount(spec.TopRowFilter.Expression, false); err != nil {
			return nil, err
		}
		if spec.TopRowFilter.Percent || spec.TopRowFilter.WithTies {
			return nil, sqlerr.Unsupported("TOP PERCENT or WITH TIES in INSERT")
		}
	}
	n, err := b.insertSource(p, spec.InsertSource, tg, cols, listed)
	if err != nil {
		return nil, err
	}
	if p.in == nil {
		if p.in, err = b.newInserter(tg, cols, listed, n); err != nil {
			return nil, err
		}
	}
	if err := p.bindValues(n, listed); err != nil {
		return nil, err
	}
	p.apart = slot >= 0 && p.root != nil && b.st.slots[slot]
	if p.in.out, err = b.compileOutput(tg, spec.OutputClause, spec.OutputIntoClause, -1); err != nil {
		return nil, err
	}
	b.st.done()
	d := &DML{Output: p.in.out.columns(), Deps: b.c.deps.take(), Run: p.run}
	if slot < 0 {
		d.Target = t
	}
	return d, nil
}
