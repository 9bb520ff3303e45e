package exec

import (
	"context"
	"strings"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// Call runs a remote procedure call; sp_executesql, sp_prepare and their kin
// are known by name. Errors are as Batch's.
func (s *Session) Call(ctx context.Context, c *Call, out Output) error {
	return s.request(ctx, c.Proc, out, true, func() error {
		name, err := parseName(c.Proc)
		if err != nil {
			return s.callFailed(err)
		}
		db, proc, sys, err := s.findProcedure(s.db(), nil, name)
		if err != nil {
			return s.callFailed(err)
		}
		if sys != nil {
			rc, outs, err := sys.fn(s, &sysArgs{s: s, name: sys.name, params: c.Params, rpc: true})
			if err != nil {
				return s.callFailed(err)
			}
			return s.returnParams(rc, outs)
		}
		p, err := s.procedure(db, proc)
		if err != nil {
			return s.callFailed(s.outOfScope(nil, err))
		}
		outs, err := s.callProgram(p, c.Params, 0)
		if err != nil {
			return s.callFailed(err)
		}
		return s.returnParams(s.rc, outs)
	})
}

// callFailed tells of the error that ended a call.
func (s *Session) callFailed(err error) error {
	t, ok := asThrown(err)
	if !ok || t.sent {
		return err
	}
	if t.err.Class < 20 && !t.located {
		c := *t.err
		c.Line = max(c.Line, 1)
		t.err = &c
	}
	s.lastError = t.err.Number
	if err := s.sendMessage(t.err); err != nil {
		return err
	}
	for _, e := range t.also {
		if err := s.sendMessage(e); err != nil {
			return err
		}
	}
	t.sent = true
	if t.level != levelFatal && s.tran.count > 0 {
		switch {
		case dooms(t.err.Number):
			s.tran.doom()
		case s.set.xactAbort || endsBatch(t.err.Number):
			if err := s.rollbackAll(); err != nil {
				return err
			}
		}
	}
	return t
}

// returnParams sends the return status and the OUTPUT parameters.
func (s *Session) returnParams(rc int32, outs []outValue) error {
	s.em.status.Value = rc
	if err := s.em.event(&s.em.status); err != nil {
		return err
	}
	for _, o := range outs {
		s.em.param = OutParam{Ordinal: o.at, Name: o.name, Type: o.typ, Value: o.value}
		if err := s.em.event(&s.em.param); err != nil {
			return err
		}
	}
	return nil
}

// outValue is an OUTPUT parameter's final value.
type outValue struct {
	at    int // in the call
	name  string
	typ   types.Type
	value types.Value
}

// callProgram runs a procedure, or the text of sp_executesql, with parameters
// that came with an RPC. base is the ordinal of the first one.
func (s *Session) callProgram(p *program, params []Param, base int) ([]outValue, error) {
	if p.kind == kindProcedure && len(params) > len(p.params) {
		return nil, sqlerr.TooManyArguments(p.shortName())
	}
	if err := s.checkNesting(s.top()); err != nil {
		return nil, err
	}
	given := make([]int, len(p.params))
	for i := range given {
		given[i] = -1
	}
	for i := range params {
		n := i
		if params[i].Name != "" {
			n = -1
			for j := range p.params {
				if strings.EqualFold(p.params[j].name, params[i].Name) {
					n = j
				}
			}
			if n < 0 {
				return nil, sqlerr.UnknownParameter(params[i].Name, p.shortName())
			}
		} else if n >= len(p.params) {
			return nil, sqlerr.TooManyArguments(p.shortName())
		}
		if given[n] >= 0 {
			return nil, sqlerr.New(8143, 16, 1, "Parameter '%s' was supplied more than once.", p.params[n].name)
		}
		given[n] = i
	}
	caller := s.top()
	callee := s.push(p)
	var made []*storage.Table
	release := func() {
		for _, t := range made {
			t.Close()
		}
	}
	for n := range p.params {
		q := &p.params[n]
		i := given[n]
		if i < 0 || params[i].Default {
			if q.table != nil {
				continue
			}
			if q.required {
				s.pop()
				release()
				if p.kind == kindDynamic {
					return nil, sqlerr.New(8178, 16, 1, "The parameterized query expects the parameter '%s', which was not supplied.", q.name)
				}
				return nil, sqlerr.MissingParameter(p.shortName(), q.name)
			}
			callee.Vars[q.slot] = q.def
			continue
		}
		a := &params[i]
		var err error
		switch {
		case q.table != nil:
			if a.local != nil {
				if a.localOf != q.table.Table && a.localOf.ID != q.table.Table.ID {
					err = sqlerr.TypeClash("table", q.table.Name)
				}
				callee.Tables[q.slot] = a.local
			} else if a.Table == nil && !a.Value.IsNull() {
				err = sqlerr.TypeClash(a.Type.Kind.String(), q.table.Name)
			} else if a.Table != nil {
				var t *storage.Table
				if t, err = s.tableParam(q, a.Table); err == nil {
					callee.Tables[q.slot] = t
					made = append(made, t)
				}
			}
		case a.Table != nil || a.local != nil:
			err = sqlerr.TypeClash("table", q.typ.Kind.String())
		case a.Output && !q.output:
			err = sqlerr.New(8162, 16, 2, "The formal parameter \"%s\" is not declared as an OUTPUT parameter, but the actual parameter is passed as one.", q.name)
		case a.Type == q.typ:
			callee.Vars[q.slot] = a.Value
		default:
			callee.Vars[q.slot], err = assignParam(a.Value, a.Type, q.typ)
		}
		if err != nil {
			s.pop()
			release()
			return nil, err
		}
	}
	err := s.activate(caller, callee, p)
	release()
	if err != nil {
		return nil, err
	}
	var outs []outValue
	at := 0
	for n := range p.params {
		q := &p.params[n]
		if !q.output {
			continue
		}
		v := s.outs[at]
		at++
		if i := given[n]; i >= 0 && params[i].Output {
			outs = append(outs, outValue{at: base + i, name: q.name, typ: q.typ, value: v})
		}
	}
	return outs, nil
}

// assignParam converts a value to a parameter's type as an assignment does.
func assignParam(v types.Value, from, to types.Type) (types.Value, error) {
	x, err := expr.Cast(expr.Constant(from, v), to, false)
	if err != nil {
		return v, err
	}
	return x.Eval(nil)
}

// tableParam makes the table of a table-valued parameter.
func (s *Session) tableParam(q *param, v *TableValue) (*storage.Table, error) {
	tt := q.table
	if v.Name != "" && (!catalog.EqualName(v.Name, tt.Name) || v.Schema != "" && !catalog.EqualName(v.Schema, tt.Schema)) {
		return nil, sqlerr.TypeClash(v.Name, tt.Name)
	}
	def := tt.Table
	if len(v.Columns) > 0 && len(v.Columns) != len(def.Columns) {
		return nil, sqlerr.New(500, 16, 1, "Trying to pass a table-valued parameter with %d column(s) where the table type has %d column(s).", len(v.Columns), len(def.Columns))
	}
	t := storage.NewLocal(def.Def)
	row := make([]types.Value, len(def.Columns))
	for _, r := range v.Rows {
		for i := range def.Columns {
			k := &def.Columns[i]
			var err error
			switch {
			case i >= len(r):
				err = sqlerr.ColumnCount()
			case i < len(v.Columns) && v.Columns[i] == k.Type:
				row[i] = r[i]
			default:
				row[i], err = types.AssignColumn(r[i], k.Type, tt.Name, k.Name)
			}
			if err == nil && row[i].IsNull() && !k.Nullable {
				err = sqlerr.NullViolation(k.Name, tt.Name, "INSERT")
			}
			if err != nil {
				t.Close()
				return nil, err
			}
		}
		if _, err := t.Insert(nil, row); err != nil {
			t.Close()
			return nil, uniqueViolation(err, def, row)
		}
	}
	return t, nil
}

// uniqueViolation turns a violated index of a table type into error 2627 or 2601.
func uniqueViolation(err error, t *catalog.Table, row []types.Value) error {
	u, ok := err.(*storage.UniqueError)
	if !ok {
		return err
	}
	x := &t.Indexes[u.Index]
	var key []string
	for _, c := range x.Columns {
		if row[c].IsNull() {
			key = append(key, "<NULL>")
			continue
		}
		key = append(key, types.Format(row[c]))
	}
	text := "(" + strings.Join(key, ", ") + ")"
	switch {
	case x.PrimaryKey:
		return sqlerr.DuplicateKeyConstraint("PRIMARY KEY", x.Name, t.FullName(), text)
	case x.Constraint:
		return sqlerr.DuplicateKeyConstraint("UNIQUE KEY", x.Name, t.FullName(), text)
	}
	return sqlerr.DuplicateKeyIndex(t.FullName(), x.Name, text)
}

// Begin is the transaction manager's request 5. iso is TDS's: 0 the session's
// level, 1 read uncommitted, 2 read committed, 3 repeatable read, 4
// serializable, 5 snapshot.
func (s *Session) Begin(ctx context.Context, iso uint8, name string, out Output) error {
	return s.manage(ctx, out, func() error { return s.beginLevel(iso, name) })
}

func (s *Session) beginLevel(iso uint8, name string) error {
	if iso > 5 {
		return sqlerr.New(8521, 16, 1, "Isolation level %d of the transaction manager request is not known.", iso)
	}
	if iso > 0 {
		s.set.isolation = isoLevel(iso)
	}
	return s.beginTran(name)
}

// Commit is the transaction manager's request 7. With begin a new transaction
// starts at once.
func (s *Session) Commit(ctx context.Context, begin bool, iso uint8, name string, out Output) error {
	return s.manage(ctx, out, func() error {
		if err := s.commitTran(); err != nil {
			return err
		}
		if begin {
			return s.beginLevel(iso, name)
		}
		return nil
	})
}

// Rollback is the transaction manager's request 8. A name that is a savepoint's
// rolls back to it. With begin a new transaction starts at once.
func (s *Session) Rollback(ctx context.Context, name string, begin bool, iso uint8, beginName string, out Output) error {
	return s.manage(ctx, out, func() error {
		if err := s.rollbackTran(name); err != nil {
			return err
		}
		if begin {
			return s.beginLevel(iso, beginName)
		}
		return nil
	})
}

// Save is the transaction manager's request 9.
func (s *Session) Save(ctx context.Context, name string, out Output) error {
	return s.manage(ctx, out, func() error { return s.saveTran(name) })
}

func (s *Session) manage(ctx context.Context, out Output, work func() error) error {
	return s.request(ctx, "", out, false, func() error {
		if err := work(); err != nil {
			return s.callFailed(err)
		}
		return nil
	})
}
