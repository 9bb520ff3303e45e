// Package tsql turns the text of one T-SQL batch into a syntax tree.
//
// It is a shim over github.com/sqlc-dev/teesql, whose tree has ScriptDom's node
// names. What that parser loses, accepts wrongly or cannot say is mended here:
// names of user-defined types in DECLARE, positions and tokens of syntax errors,
// unclosed strings, comments and blocks, and nesting deep enough to end the
// process.
package tsql

import (
	"github.com/sqlc-dev/teesql/ast"
)

// Batch is one parsed batch: its text and its statements in order.
type Batch struct {
	Source
	Statements []ast.Statement
}

// Parse parses the text of one batch, as a client sends it: GO is no separator
// here. Errors are *sqlerr.Error of class 15 with their line (1-based) set; the
// text of the error names the token it stopped at.
func Parse(text string) (*Batch, error) {
	return parse(text, true)
}

// ParseQuoted is Parse under SET QUOTED_IDENTIFIER ON or OFF: when OFF, text in
// quotation marks is a string. A SET QUOTED_IDENTIFIER in the batch counts from
// there on, whether it is reached or not, unless the batch makes a module.
func ParseQuoted(text string, quotedIdentifier bool) (*Batch, error) {
	return parse(text, quotedIdentifier)
}

// Line returns the 1-based line of the batch on which a node begins, or 0 when
// the node has no position of its own.
func Line(n any) int {
	f := fragment(n)
	if f == nil {
		return 0
	}
	return f.StartLine
}

// Text returns the source text of a node.
func Text(b *Batch, n any) string { return b.Slice(n) }
