package tsql

import "gostress/internal/engine/sqlerr"

// maxNesting is how deep parentheses, blocks and CASE may nest. SQL Server's own
// limit depends on its stack.
const maxNesting = 900

// check refuses, before teesql sees the text, what teesql would accept or what
// would end the process.
func check(text string, t []token) error {
	for _, rule := range []func(string, []token) error{blocks, phrases, transactions, settings, paging, heads, forClause} {
		if err := rule(text, t); err != nil {
			return err
		}
	}
	return nil
}

// forClause finds FOR JSON or FOR XML in a SELECT without FROM, which teesql takes
// for another statement.
func forClause(text string, t []token) error {
	from := []bool{false}
	for i := 0; t[i].kind != tokEOF; i++ {
		switch t[i].word {
		case "(":
			from = append(from, false)
		case ")":
			from = from[:len(from)-1]
		case "SELECT", ";":
			from[len(from)-1] = false
		case "FROM":
			from[len(from)-1] = true
		case "FOR":
			if (t[i+1].word == "JSON" || t[i+1].word == "XML") && !from[len(from)-1] {
				return at(sqlerr.Unsupported("FOR "+t[i+1].word+" in a SELECT without FROM"), t[i].line)
			}
		}
	}
	return nil
}

// known names constructs that are T-SQL but that teesql cannot read.
func known(text string, t []token) error {
	for i := range t {
		switch {
		case t[i].word == "CURRENT" && t[i+1].word == "OF" && i > 0 && back(t, i, 1).word == "WHERE":
			return at(sqlerr.Unsupported("WHERE CURRENT OF"), t[i].line)
		}
	}
	return nil
}
