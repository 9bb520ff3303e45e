package exec

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// cursor is a declared cursor. OPEN reads all of its rows (a static cursor:
// what STATIC, FAST_FORWARD and READ_ONLY may be), FETCH goes through them.
type cursor struct {
	cols   []Column
	open   func(s *Session, fr *frame) ([][]types.Value, error)
	scroll bool
	rows   [][]types.Value
	at     int // of the row last fetched; -1 before the first
	opened bool
	e      *Engine
	bytes  int64 // of memory that its rows are counted with
}

func (c *cursor) close() {
	c.rows, c.opened = nil, false
	c.free()
}

func (cc *compiler) cursor(st ast.Statement) (*code, error) {
	switch n := st.(type) {
	case *ast.DeclareCursorStatement:
		return cc.declareCursor(n)
	case *ast.OpenCursorStatement:
		return cc.onCursor(n.Cursor, func(s *Session, fr *frame, c *cursor, name string) error {
			if c.opened {
				return sqlerr.New(16905, 16, 1, "The cursor is already open.")
			}
			rows, err := c.open(s, fr)
			if err != nil {
				c.free()
				return err
			}
			c.rows, c.at, c.opened = rows, -1, true
			s.lastCursorRows = int64(len(rows))
			return nil
		})
	case *ast.CloseCursorStatement:
		return cc.onCursor(n.Cursor, func(s *Session, fr *frame, c *cursor, name string) error {
			if !c.opened {
				return sqlerr.New(16917, 16, 1, "The cursor is not open.")
			}
			c.close()
			return nil
		})
	case *ast.DeallocateCursorStatement:
		return cc.onCursor(n.Cursor, func(s *Session, fr *frame, c *cursor, name string) error {
			c.close()
			delete(fr.cursors, name)
			if s.cursors[name] == c {
				delete(s.cursors, name)
			}
			return nil
		})
	case *ast.FetchCursorStatement:
		return cc.fetch(n)
	}
	return nil, sqlerr.Unsupported(construct(st))
}

func (cc *compiler) declareCursor(n *ast.DeclareCursorStatement) (*code, error) {
	global, scroll := true, false
	for _, o := range n.CursorDefinition.Options {
		switch k := foldName(strings.ReplaceAll(o.OptionKind, "_", "")); k {
		case "local":
			global = false
		case "global", "forwardonly", "static", "fastforward", "readonly", "insensitive":
		case "scroll":
			scroll = true
		default:
			return nil, sqlerr.UnsupportedOption("CURSOR " + strings.ToUpper(o.OptionKind))
		}
		if k := foldName(strings.ReplaceAll(o.OptionKind, "_", "")); k == "static" || k == "insensitive" {
			scroll = scroll || k == "static"
		}
	}
	if cc.p.kind == kindFunction || cc.p.mod.NumTables() > 0 {
		global = false // its query may read table variables, which end with the module
	}
	q, err := cc.plan.Select(n.CursorDefinition.Select)
	if err != nil {
		return nil, err
	}
	if q.Assigns || q.Into != nil {
		return nil, sqlerr.New(154, 15, 3, "A variable assignment or INTO is not allowed in a cursor declaration.")
	}
	var cols []Column
	for _, k := range q.Columns {
		cols = append(cols, Column{Name: k.Name, Type: k.Type, Nullable: k.Nullable})
	}
	run, base := q.Run, cc.acc.base
	name := catalog.Fold(n.Name.Value)
	c := quiet(nil)
	nregs, nonce := cc.p.mod.NumRegs(), cc.p.mod.NumOnce()
	home := cc.p
	c.run = func(s *Session, fr *frame) error {
		set := fr.cursors
		if global {
			set = s.cursors
		}
		if _, ok := set[name]; ok {
			return sqlerr.New(16915, 16, 1, "A cursor named '%s' is there already.", n.Name.Value)
		}
		cur := &cursor{cols: cols, scroll: scroll, at: -1, e: s.e}
		layout, tempLayout := s.e.gate.layouts.Load(), s.tempLayout
		// The query may use variables: it sees their values at DECLARE.
		vars := append([]types.Value(nil), fr.Vars...)
		tables := fr.Tables
		cur.open = func(s *Session, at *frame) ([][]types.Value, error) {
			inner := &frame{prog: home, fixed: at.fixed}
			inner.Frame = expr.Frame{Vars: vars, Tables: tables, Regs: make([]types.Value, nregs), Once: make([]expr.OnceSlot, nonce), Session: s, Ctx: s.ctx}
			inner.BeginStatement()
			var buf rowBuffer
			work := func() error {
				buf.reset()
				cur.free()
				_, err := run(&inner.Frame, func(row []types.Value) error {
					if err := cur.reserve(row); err != nil {
						return err
					}
					return buf.add(row)
				})
				return err
			}
			var err error
			if base {
				if c.access.disk || c.access.memory {
					inside, err := s.enterGate()
					if err != nil {
						return nil, err
					}
					if inside {
						defer s.leaveGate()
					}
				}
				if s.e.gate.layouts.Load() != layout || s.tempLayout != tempLayout {
					return nil, sqlerr.New(16943, 16, 4, "The cursor operation cannot be carried out: the layout of a table has changed since the cursor was declared.")
				}
				err = s.inStatement(inner, c, false, work)
			} else {
				err = work()
			}
			return buf.rows, err
		}
		if global {
			if s.cursors == nil {
				s.cursors = map[string]*cursor{}
			}
			s.cursors[name] = cur
		} else {
			if fr.cursors == nil {
				fr.cursors = map[string]*cursor{}
			}
			fr.cursors[name] = cur
		}
		return nil
	}
	return c, nil
}

// onCursor compiles a statement about a cursor that is there.
func (cc *compiler) onCursor(id *ast.CursorId, fn func(s *Session, fr *frame, c *cursor, name string) error) (*code, error) {
	name, err := cursorName(id)
	if err != nil {
		return nil, err
	}
	return simple(func(s *Session, fr *frame) error {
		c, err := s.cursorOf(fr, name, id.IsGlobal)
		if err != nil {
			return err
		}
		return fn(s, fr, c, catalog.Fold(name))
	}), nil
}

func cursorName(id *ast.CursorId) (string, error) {
	if id == nil || id.Name == nil {
		return "", sqlerr.Syntax("CURSOR")
	}
	switch {
	case id.Name.Identifier != nil:
		return id.Name.Identifier.Value, nil
	case id.Name.ValueExpression != nil:
		return "", sqlerr.Unsupported("cursor variables")
	}
	return id.Name.Value, nil
}

func (s *Session) cursorOf(fr *frame, name string, global bool) (*cursor, error) {
	key := catalog.Fold(name)
	if c, ok := fr.cursors[key]; ok && !global {
		return c, nil
	}
	if c, ok := s.cursors[key]; ok {
		return c, nil
	}
	return nil, sqlerr.New(16916, 16, 1, "There is no cursor named '%s'.", name)
}

func (s *Session) cursorRows() int64 { return s.lastCursorRows }

func (cc *compiler) fetch(n *ast.FetchCursorStatement) (*code, error) {
	name, err := cursorName(n.Cursor)
	if err != nil {
		return nil, err
	}
	way := "next"
	var offset expr.Expr
	if n.FetchType != nil {
		way = foldName(n.FetchType.Orientation)
		if n.FetchType.RowOffset != nil {
			if offset, err = cc.scalarAs(n.FetchType.RowOffset, types.Int); err != nil {
				return nil, err
			}
		}
	}
	type target struct {
		slot int
		typ  types.Type
	}
	var into []target
	for _, v := range n.IntoVariables {
		r, ok := v.(*ast.VariableReference)
		if !ok {
			return nil, sqlerr.Syntax("INTO")
		}
		slot, t, ok := cc.plan.Scope.LookupVar(r.Name)
		if !ok {
			return nil, sqlerr.UndeclaredVariable(r.Name)
		}
		into = append(into, target{slot, t})
	}
	global := n.Cursor.IsGlobal
	return quiet(func(s *Session, fr *frame) error {
		c, err := s.cursorOf(fr, name, global)
		if err != nil {
			return err
		}
		if !c.opened {
			return sqlerr.New(16917, 16, 1, "The cursor is not open.")
		}
		if way != "next" && !c.scroll {
			return sqlerr.New(16911, 16, 1, "fetch: The fetch type %s cannot be used with forward only cursors.", way)
		}
		at := c.at
		n := 0
		if offset.Eval != nil {
			v, err := offset.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			n = int(v.Int())
		}
		switch way {
		case "next":
			at++
		case "prior":
			at--
		case "first":
			at = 0
		case "last":
			at = len(c.rows) - 1
		case "absolute":
			at = n - 1
			if n < 0 {
				at = len(c.rows) + n
			}
		case "relative":
			at += n
		}
		c.at = min(max(at, -1), len(c.rows))
		found := c.at >= 0 && c.at < len(c.rows)
		s.fetchStatus, s.rowCount = -1, 0
		if found {
			s.fetchStatus, s.rowCount = 0, 1
		}
		if len(into) == 0 {
			if err := s.sendColumns(c.cols); err != nil {
				return err
			}
			if found {
				if err := s.sendRow(c.rows[c.at]); err != nil {
					return err
				}
			}
			return s.sendDoneRows(CmdSelect, s.rowCount, false)
		}
		if len(into) != len(c.cols) {
			return sqlerr.New(16924, 16, 1, "fetch: The number of variables in the INTO list must be that of the selected columns.")
		}
		if found {
			for i, t := range into {
				v, err := types.Assign(c.rows[c.at][i], t.typ)
				if err != nil {
					return err
				}
				fr.Vars[t.slot] = v
			}
		}
		return s.sendDone(CmdSelect, -1, false)
	}), nil
}
