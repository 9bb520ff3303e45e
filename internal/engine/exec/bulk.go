package exec

import (
	"context"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// bulkLoad is what an INSERT BULK statement announced.
type bulkLoad struct {
	table *ast.SchemaObjectName
	cols  []Column
	names []string
	keep  bool // KEEP_NULLS
}

// insertBulk compiles INSERT BULK: the rows come in a message of their own.
func (cc *compiler) insertBulk(n *ast.InsertBulkStatement) (*code, error) {
	b := &bulkLoad{table: n.To}
	for _, o := range n.Options {
		if k, ok := o.(*ast.BulkInsertOptionBase); ok && foldName(k.OptionKind) == "keepnulls" {
			b.keep = true
		}
	}
	for _, d := range n.ColumnDefinitions {
		rt, err := cc.db.ResolveType(d.Column.DataType)
		if err != nil {
			return nil, err
		}
		b.cols = append(b.cols, Column{Name: d.Column.ColumnIdentifier.Value, Type: rt.Type, Nullable: true})
		b.names = append(b.names, d.Column.ColumnIdentifier.Value)
	}
	db, p := cc.db, cc.p
	return simple(func(s *Session, fr *frame) error {
		if _, _, err := s.table(db, p, b.table); err != nil {
			return err
		}
		s.bulk = b
		return nil
	}), nil
}

// BulkColumns are the columns that an INSERT BULK statement announced, nil when
// none waits for its rows.
func (s *Session) BulkColumns() []Column {
	if s.bulk == nil {
		return nil
	}
	return s.bulk.cols
}

// Bulk takes the rows of a bulk load (message 0x07) after INSERT BULK. next
// returns nil at the end; its rows are valid until the next call. The rows go in
// as one INSERT statement: all or none.
func (s *Session) Bulk(ctx context.Context, next func() ([]types.Value, error), out Output) error {
	b := s.bulk
	s.bulk = nil
	return s.request(ctx, "INSERT BULK", out, false, func() error {
		if b == nil {
			return s.callFailed(sqlerr.New(4002, 16, 1, "The incoming tabular data stream has bulk rows, but no INSERT BULK statement announced them."))
		}
		p, err := s.bulkProgram(b)
		if err != nil {
			return s.compileFailed(err)
		}
		fr := s.push(p)
		defer s.pop()
		c := p.ins[0].code.Load()
		fr.Regs, fr.Once = extend(fr.Regs, c.regs), extend(fr.Once, c.once)
		var rows int64
		insert := func() error {
			for {
				row, err := next()
				if err != nil || row == nil {
					return err
				}
				for i, v := range row {
					if v, err = types.Assign(v, b.cols[i].Type); err != nil {
						return err
					}
					fr.Vars[i] = v
				}
				fr.BeginStatement()
				s.em.quiet = true
				err = c.run(s, fr)
				s.em.quiet = false
				if err != nil {
					return err
				}
				rows++
			}
		}
		sv, own := s.tran.mark(""), s.tran.count == 0
		if own {
			s.tran.count, s.tran.silent = 1, true
		}
		err = insert()
		switch {
		case err != nil && own:
			_ = s.rollbackAll()
		case err != nil:
			s.rollbackTo(sv)
		case own:
			err = s.commitTran()
		}
		if err != nil {
			return s.callFailed(err)
		}
		s.rowCount = rows
		return s.sendDone(CmdInsert, rows, false)
	})
}

// bulkProgram compiles the INSERT that takes one row of variables.
func (s *Session) bulkProgram(b *bulkLoad) (*program, error) {
	p := s.newProgram(kindBatch, s.db())
	p.src = &tsql.Batch{}
	spec := &ast.InsertSpecification{InsertOption: "Into", Target: &ast.NamedTableReference{SchemaObject: b.table}}
	row := &ast.RowValue{}
	for i, k := range b.cols {
		name := "@p" + itoa(i)
		if _, err := p.scope.DeclareVar(name, k.Type); err != nil {
			return nil, compileError(err)
		}
		id := &ast.Identifier{Value: b.names[i], QuoteType: "SquareBracket"}
		spec.Columns = append(spec.Columns, &ast.ColumnReferenceExpression{ColumnType: "Regular",
			MultiPartIdentifier: &ast.MultiPartIdentifier{Count: 1, Identifiers: []*ast.Identifier{id}}})
		row.ColumnValues = append(row.ColumnValues, &ast.VariableReference{Name: name})
	}
	spec.InsertSource = &ast.ValuesInsertSource{RowValues: []*ast.RowValue{row}}
	return p, s.finishProgram(p, []ast.Statement{&ast.InsertStatement{InsertSpecification: spec}})
}
