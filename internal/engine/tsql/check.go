package tsql

import "gostress/internal/engine/sqlerr"

// maxNesting is how deep parentheses, blocks and CASE may nest. SQL Server's own
// limit depends on its stack.
const maxNesting = 900

// check refuses, before teesql sees the text, what teesql would accept or what
// would end the process.
func check(text string, t []token) error {
	return blocks(text, t)
}

// known names constructs that are T-SQL but that teesql cannot read.
func known(text string, t []token) error {
	for i := range t {
		switch {
		case t[i].word == "CURRENT" && t[i+1].word == "OF" && i > 0 && t[i-1].word == "WHERE":
			return at(sqlerr.Unsupported("WHERE CURRENT OF"), t[i].line)
		case (t[i].word == "ALL" || t[i].word == "ANY" || t[i].word == "SOME") && t[i+1].word == "(" && t[i+2].word == "SELECT" && i > 0 && t[i-1].kind == tokPunct:
			return at(sqlerr.Unsupported("a comparison with "+t[i].word+" (subquery)"), t[i].line)
		case t[i].word == "INSERT" && t[i+1].word == "BULK":
			return at(sqlerr.Unsupported("INSERT BULK"), t[i].line)
		}
	}
	return nil
}
