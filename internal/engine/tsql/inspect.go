package tsql

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

// inspector refuses trees that teesql made out of what it could not read.
type inspector struct {
	b      *Batch
	tokens []token
	err    error
}

func inspect(b *Batch, tokens []token) error {
	x := &inspector{b: b, tokens: tokens}
	for _, st := range b.Statements {
		visit(reflect.ValueOf(st), x.node)
		if x.err != nil {
			return x.err
		}
	}
	return nil
}

// end refuses a node near its last token.
func (x *inspector) end(n any) {
	if x.err != nil {
		return
	}
	f := fragment(n)
	if f == nil || !f.HasSpan() {
		x.err = nearAt(x.b.Text, x.tokens, len(x.tokens)-1)
		return
	}
	i := tokenAt(x.tokens, x.b.byteOffset(f.EndOffset())-1)
	for i > 0 && x.tokens[i].word == ";" {
		i--
	}
	x.err = nearAt(x.b.Text, x.tokens, i)
}

// begin refuses a node near its first token, or one after it.
func (x *inspector) begin(n any, after int) {
	if x.err == nil {
		i := tokenAt(x.tokens, x.b.Offset(n)) + after
		x.err = nearAt(x.b.Text, x.tokens, min(i, len(x.tokens)-1))
	}
}

func (x *inspector) node(n any) {
	switch n := n.(type) {
	case *ast.LabelStatement:
		i := tokenAt(x.tokens, x.b.Offset(n))
		if !strings.HasSuffix(n.Value, ":") || x.tokens[i+1].word != ":" {
			x.begin(n, 0)
		}
	case *ast.ExecuteStatement:
		x.execute(n)
	case *ast.ExecutableProcedureReference:
		if n.ProcedureReference == nil {
			x.end(n)
		}
		for _, p := range n.Parameters {
			switch p.ParameterValue.(type) {
			case *ast.BinaryExpression, *ast.ParenthesisExpression, *ast.FunctionCall, *ast.ScalarSubquery, *ast.SearchedCaseExpression, *ast.SimpleCaseExpression, nil:
				x.end(p)
			}
		}
	case *ast.FromClause:
		if len(n.TableReferences) == 0 {
			x.end(n)
		}
	case *ast.CommonTableExpression:
		if n.QueryExpression == nil {
			x.end(n)
		}
	case *ast.MergeSpecification:
		if len(n.ActionClauses) == 0 {
			x.end(n)
		}
	case *ast.ColumnDefinition:
		x.column(n)
	case *ast.CreateTableStatement:
		if n.Definition == nil && n.SelectStatement == nil && !n.AsFileTable && !n.AsEdge && !n.AsNode {
			x.end(n)
		}
	case *ast.CreateIndexStatement:
		if n.Name == nil || n.OnName == nil || len(n.Columns) == 0 {
			x.end(n)
		}
	case *ast.CreateProcedureStatement:
		if n.ProcedureReference == nil || n.ProcedureReference.Name == nil {
			x.begin(n, 1)
		}
	case *ast.CreateFunctionStatement:
		if n.ReturnType == nil {
			x.end(n)
		}
	case *ast.CreateViewStatement:
		if n.SelectStatement == nil || n.SelectStatement.QueryExpression == nil {
			x.end(n)
		}
	case *ast.AlterDatabaseSetStatement:
		if len(n.Options) == 0 && !n.WithManualCutover {
			x.end(n)
		}
	case *ast.SetTransactionIsolationLevelStatement:
		if n.Level == "" {
			x.end(n)
		}
	}
}

// execute refuses an EXEC that is none: only the first statement of a batch may
// leave the word out. Arguments stand without parentheses.
func (x *inspector) execute(st *ast.ExecuteStatement) {
	i := tokenAt(x.tokens, x.b.Offset(st))
	w := x.tokens[i].word
	if w != "EXEC" && w != "EXECUTE" && i > 0 && w != "{" {
		x.begin(st, 0)
		return
	}
	if w == "EXEC" || w == "EXECUTE" {
		i++
	}
	if x.tokens[i].kind == tokVariable && x.tokens[i+1].word == "=" {
		i += 2
	}
	named := false
	for x.tokens[i].kind == tokWord || x.tokens[i].kind == tokQuoted || x.tokens[i].kind == tokVariable {
		named = true
		i++
		if x.tokens[i].word != "." {
			break
		}
		for x.tokens[i].word == "." {
			i++
		}
	}
	if named && x.tokens[i].word == "(" && x.err == nil {
		x.err = near(x.b.Text, x.tokens[i])
	}
}

// column refuses a column without a type; a timestamp column may do without.
func (x *inspector) column(c *ast.ColumnDefinition) {
	if c.DataType != nil || c.ComputedColumnExpression != nil || x.err != nil {
		return
	}
	if c.ColumnIdentifier == nil || c.ColumnIdentifier.Value == "" {
		x.end(c)
		return
	}
	if !strings.EqualFold(c.ColumnIdentifier.Value, "timestamp") {
		x.err = at(sqlerr.New(173, 15, 1, "The definition of the column '%s' needs a data type.", c.ColumnIdentifier.Value), Line(c))
	}
}
