package plan

import (
	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// truncateStatement compiles TRUNCATE TABLE. Errors: 4708 not a table, 4712 a
// foreign key refers to it, 10794 a memory-optimized table.
func (c *Compiler) truncateStatement(s *ast.TruncateTableStatement) (*DML, error) {
	b := c.begin()
	line := tsql.Line(s)
	if len(s.PartitionRanges) > 0 {
		return nil, sqlerr.Unsupported("TRUNCATE TABLE ... WITH (PARTITIONS)").At(line)
	}
	t, err := c.resolve(b.st, s.TableName)
	if err != nil {
		if sqlerr.Number(err) == 208 {
			return nil, sqlerr.New(4701, 16, 1, "The object \"%s\" cannot be found because it does not exist or you have no permission.", s.TableName.BaseIdentifier.Value).At(line)
		}
		return nil, sqlerr.AtLine(err, line)
	}
	switch {
	case t.View != nil || t.System != nil:
		return nil, sqlerr.New(4708, 16, 1, "The object '%s' cannot be truncated because it is not a table.", t.Name).At(line)
	case t.MemoryOptimized:
		return nil, sqlerr.New(10794, 16, 85, "The statement 'TRUNCATE TABLE' is not supported with memory optimized tables.").At(line)
	}
	if c.Database != nil {
		if db := c.Database(t); db != nil {
			for _, r := range db.References(t.ID) {
				if r.Table.ID != t.ID {
					return nil, sqlerr.New(4712, 16, 1, "Table '%s' cannot be truncated because a FOREIGN KEY constraint refers to it.", t.Name).At(line)
				}
			}
		}
	}
	return &DML{Deps: c.deps.take(), Target: t, Run: func(f *expr.Frame, _ func([]types.Value) error) (int64, error) {
		if err := cancelled(f); err != nil {
			return 0, err
		}
		if err := t.Data.Truncate(f.Tx); err != nil {
			return 0, err
		}
		if t.Identity != nil {
			t.Identity.Reset()
		}
		return 0, nil
	}}, nil
}
