package tsql

import "gostress/internal/engine/sqlerr"

// needs are the words that must be followed by something: the token after one of
// them must not end the phrase.
var needs = words(`FROM WHERE AND OR NOT BY HAVING JOIN APPLY IN LIKE BETWEEN ESCAPE IS THEN WHEN INTO EXISTS SELECT
AS UNION EXCEPT INTERSECT ELSE DISTINCT TOP USING OVER MATCHED USE PRINT GOTO KILL DECLARE DATABASE SCHEMA FILEGROUP
INDEX TABLE PROCEDURE PROC FUNCTION VIEW TYPE REFERENCES PIVOT UNPIVOT OPTION DELAY CHECK GRANT REVOKE DENY CREATE ALTER DROP
FETCH OFFSET FOREIGN PRIMARY SET`)

// clauses are the words that begin the next clause of a statement and no operand.
var clauses = words(`FROM WHERE GROUP ORDER HAVING UNION EXCEPT INTERSECT JOIN AND OR THEN WHEN ELSE END INTO`)

// operators need an operand on their right.
var operators = words(`= < > <= >= <> != !< !> + - / % & | ^ += -= *= /= %= &= |= ^= || << >>`)

// ends reports whether a token ends a phrase.
func ends(t token) bool {
	return t.kind == tokEOF || t.word == ")" || t.word == "," || t.word == ";"
}

// phrases refuses operands, lists and clauses that are not complete. It looks at
// two neighbours at a time; what needs more is left to statements.
func phrases(text string, t []token) error {
	verb := "" // the statement's first word
	for i := 0; t[i].kind != tokEOF; i++ {
		w, n := t[i].word, t[i+1]
		if t[i].kind == tokWord && verbs[w] && (i == 0 || back(t, i, 1).word != "FOR" && back(t, i, 1).word != ",") {
			if i == 0 || !permissions[back(t, i, 1).word] {
				verb = w
			}
		}
		if w == "" || t[i].kind == tokVariable {
			continue
		}
		bad := false
		switch {
		case t[i].kind == tokPunct:
			bad = punct(t, i)
		case w == "AS":
			bad = ends(n) && !emptyBody(t, i) || n.kind == tokWord && clauses[n.word] && n.word != "END"
		case w == "IS" || w == "IN" || w == "LIKE" || w == "BETWEEN" || w == "ESCAPE" || w == "JOIN" || w == "APPLY" || w == "WHEN" || w == "THEN":
			bad = ends(n) && !(w == "JOIN" && i > 0 && joinHints[back(t, i, 1).word]) || n.kind == tokWord && clauses[n.word] || w == "IN" && n.word == "(" && t[i+2].word == ")"
		case w == "FROM" || w == "WHERE" || w == "AND" || w == "OR" || w == "BY" || w == "HAVING":
			bad = ends(n) || n.kind == tokWord && clauses[n.word] || w == "FROM" && n.word == "SELECT"
		case w == "ON":
			bad = n.kind == tokWord && (clauses[n.word] && n.word != "END" && n.word != "ELSE") && queries[verb] || ends(n) && queries[verb] && back(t, i, 1).kind != tokPunct && !option(t, i)
		case w == "SELECT":
			bad = (ends(n) || n.kind == tokWord && clauses[n.word]) && !permissions[verb]
		case w == "VALUES":
			bad = n.word != "(" && (i == 0 || back(t, i, 1).word != "DEFAULT" && back(t, i, 1).word != "WITH") || n.word == "(" && t[i+2].word == ")"
		case w == "OPTION" || w == "CHECK" && n.word == "(":
			bad = w == "OPTION" && n.word != "(" && back(t, i, 1).word != "GRANT" && back(t, i, 1).word != "CHECK" && back(t, i, 1).word != "WITH" || n.word == "(" && t[i+2].word == ")"
		case w == "WITH":
			bad = n.kind == tokEOF || n.word == ";" || n.word == ")" || n.word == "(" && t[i+2].word == ")"
		case w == "CHECK" || w == "CONSTRAINT":
			create := verb == "CREATE" || verb == "ALTER" || verb == "DECLARE"
			bad = create && (w == "CHECK" && n.word == ")" || w == "CONSTRAINT" && t[i+2].word == ")" && !ends(n))
		case w == "MATCHED":
			bad = !thenFollows(t, i)
		case w == "NOT":
			bad = ends(n)
		case w == "LEFT" || w == "RIGHT" || w == "INNER":
			bad = queries[verb] && n.word != "(" && n.word != "JOIN" && n.word != "OUTER" && !joinHints[n.word] && n.word != "," && n.word != ")"
		case w == "DEFAULT":
			bad = (n.word == ")" || n.word == ",") && (verb == "CREATE" || verb == "ALTER") && i > 0 && back(t, i, 1).word != "=" && back(t, i, 1).word != "(" && back(t, i, 1).word != ","
		case needs[w]:
			bad = dangling(t, i)
		}
		if bad && clauses[w] && t[i].kind == tokWord && (verb == "" || verb == "EXEC" || verb == "EXECUTE") {
			return near(text, t[i]) // no clause of this statement
		}
		if bad {
			return nearAt(text, t, i+1)
		}
	}
	return nil
}

var (
	verbs       = words("SELECT INSERT UPDATE DELETE MERGE CREATE ALTER DROP SET DECLARE EXEC EXECUTE GRANT REVOKE DENY IF WHILE PRINT RETURN BEGIN COMMIT ROLLBACK USE TRUNCATE BACKUP RESTORE DBCC")
	queries     = words("SELECT INSERT UPDATE DELETE MERGE")
	permissions = words("GRANT REVOKE DENY")
	joinHints   = words("LOOP HASH MERGE REMOTE REDUCE REPLICATE REDISTRIBUTE")
)

// punct checks a mark and what follows it.
func punct(t []token, i int) bool {
	w, n := t[i].word, t[i+1]
	switch {
	case w == ",":
		return ends(n) || n.kind == tokWord && clauses[n.word] && t[i+2].word != "GROUP" && t[i+2].word != "UNION" && !(n.word == "ORDER" && t[i+2].word == "(") ||
			n.word == "AS" && (verbs[t[i+2].word] || t[i+2].kind == tokEOF) || n.word == "SELECT" && i > 0 && back(t, i, 1).word == ")" && t[i+2].word != "("
	case w == "%" && i > 0 && back(t, i, 1).kind == tokNumber && ends(n):
		return n.kind == tokEOF // FILEGROWTH = 10%
	case operators[w]:
		return ends(n) || n.kind == tokWord && clauses[n.word]
	case w == ".":
		return ends(n) || n.kind == tokString || n.kind == tokNumber
	case w == "(":
		if n.word == "," || n.kind == tokEOF || n.word == ";" {
			return true
		}
		if n.word != ")" || i == 0 {
			return false
		}
		// Empty parentheses follow the name of a function or GROUP BY.
		p := back(t, i, 1)
		switch {
		case p.kind == tokPunct:
			return p.word != "," && p.word != "("
		case p.kind == tokWord:
			return lengths[p.word] || p.word == "KEY" || p.word == "WHERE" || p.word == "SELECT" || p.word == "FROM" || p.word == "AND" || p.word == "OR" || p.word == "TOP" || indexName(t, i)
		}
		return indexName(t, i)
	}
	return false
}

// lengths are the types that take a length in parentheses.
var lengths = words("VARCHAR NVARCHAR VARBINARY DECIMAL NUMERIC DATETIME2 DATETIMEOFFSET")

// indexName reports whether the parenthesis at i follows INDEX name, ON table of a
// CREATE INDEX, CREATE TABLE name or INSERT INTO name.
func indexName(t []token, i int) bool {
	j := i - 1
	for j >= 2 && back(t, j, 1).word == "." {
		j -= 2
	}
	if j < 1 {
		return false
	}
	switch back(t, j, 1).word {
	case "INDEX", "TABLE":
		return true
	case "INTO":
		return j >= 2 && back(t, j, 2).word == "INSERT"
	case "ON":
		for k := j - 2; k >= 0 && k > j-8; k-- {
			if t[k].word == "INDEX" {
				return true
			}
		}
	}
	return false
}

// option reports whether ON at i is the value of a SET option of this statement.
func option(t []token, i int) bool {
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		if t[j].word == "SET" {
			return true
		}
	}
	return false
}

// thenFollows reports whether WHEN MATCHED at i has its THEN.
func thenFollows(t []token, i int) bool {
	for j := i + 1; t[j].kind != tokEOF && t[j].word != ";" && t[j].word != "WHEN"; j++ {
		if t[j].word == "THEN" {
			return true
		}
	}
	return false
}

// emptyBody reports whether AS at i ends a CREATE PROCEDURE, whose body may be empty.
func emptyBody(t []token, i int) bool {
	if t[i+1].kind != tokEOF && t[i+1].word != ";" {
		return false
	}
	for j := i; j >= 0; j-- {
		if t[j].word == "PROC" || t[j].word == "PROCEDURE" {
			return true
		}
	}
	return false
}

// dangling checks the words that only the end of the batch or of the statement
// shows to be incomplete.
func dangling(t []token, i int) bool {
	n := t[i+1]
	switch t[i].word {
	case "UNION", "EXCEPT", "INTERSECT", "USE", "PRINT", "GOTO", "KILL", "DECLARE", "CREATE", "ALTER", "DROP", "GRANT", "REVOKE", "DENY", "INTO", "SET":
		return n.kind == tokEOF || n.word == ";"
	case "FILEGROUP", "SCHEMA", "DATABASE":
		return n.kind == tokEOF && i > 0 && (back(t, i, 1).word == "ADD" || back(t, i, 1).word == "CREATE" || back(t, i, 1).word == "DROP" || back(t, i, 1).word == "ALTER")
	case "REFERENCES", "PRIMARY", "FOREIGN":
		return ends(n) && t[i].word != "PRIMARY" || t[i].word == "PRIMARY" && n.word == ")" && i > 0 && back(t, i, 1).word != "(" && back(t, i, 1).kind == tokWord && back(t, i, 1).word != "ON"
	case "PIVOT", "UNPIVOT":
		return n.word != "(" && i > 0 && back(t, i, 1).word != "." && (n.kind == tokEOF || n.word == ";")
	}
	return false
}

// transactions checks COMMIT, ROLLBACK, SAVE and BEGIN TRANSACTION: teesql steps
// over what follows their names.
func transactions(text string, t []token) error {
	for i := 0; t[i].kind != tokEOF; i++ {
		j := i + 1
		switch t[i].word {
		case "COMMIT", "ROLLBACK", "SAVE":
			if t[i].kind != tokWord || i > 0 && (back(t, i, 1).word == "," || back(t, i, 1).word == "." || back(t, i, 1).word == "AS" || back(t, i, 1).word == "WITH") {
				continue
			}
		case "BEGIN":
			if t[j].word == "DISTRIBUTED" {
				j++
			}
			if t[j].word != "TRAN" && t[j].word != "TRANSACTION" {
				continue
			}
		default:
			continue
		}
		switch t[j].word {
		case "TRAN", "TRANSACTION":
			j++
			named := t[j].kind == tokVariable || t[j].kind == tokQuoted || t[j].kind == tokWord && !reserved[t[j].word] && !starters[t[j].word]
			if named {
				j++
			} else if t[i].word == "SAVE" {
				return nearAt(text, t, j)
			}
		case "WORK":
			j++
		default:
			if t[i].word == "SAVE" {
				return nearAt(text, t, j)
			}
		}
		if t[j].word == "WITH" {
			continue
		}
		if !statementStart(t, j) {
			return nearAt(text, t, j)
		}
	}
	return nil
}

// statementStart reports whether a statement may begin, or the one before may end,
// at token j.
func statementStart(t []token, j int) bool {
	n := t[j]
	switch n.kind {
	case tokEOF:
		return true
	case tokPunct:
		return n.word == ";" || n.word == "("
	case tokWord:
		return starters[n.word] || n.word == "ELSE" || t[j+1].word == ":"
	}
	return false
}

// settings checks the SET options that are ON or OFF.
func settings(text string, t []token) error {
	for i := 0; t[i].kind != tokEOF; i++ {
		if t[i].word != "SET" || t[i].kind != tokWord || !switches[t[i+1].word] {
			continue
		}
		j := i + 2
		for t[j].word == "," && switches[t[j+1].word] {
			j += 2
		}
		if t[i+1].word == "STATISTICS" || t[i+1].word == "IDENTITY_INSERT" {
			continue
		}
		if t[j].word != "ON" && t[j].word != "OFF" {
			return nearAt(text, t, j)
		}
	}
	return nil
}

var switches = words(`ANSI_DEFAULTS ANSI_NULLS ANSI_NULL_DFLT_OFF ANSI_NULL_DFLT_ON ANSI_PADDING ANSI_WARNINGS
ARITHABORT ARITHIGNORE CONCAT_NULL_YIELDS_NULL CURSOR_CLOSE_ON_COMMIT FMTONLY FORCEPLAN IMPLICIT_TRANSACTIONS NOCOUNT
NOEXEC NUMERIC_ROUNDABORT PARSEONLY QUOTED_IDENTIFIER REMOTE_PROC_TRANSACTIONS SHOWPLAN_ALL SHOWPLAN_TEXT SHOWPLAN_XML
XACT_ABORT STATISTICS IDENTITY_INSERT`)

// paging checks OFFSET n ROWS FETCH NEXT n ROWS ONLY.
func paging(text string, t []token) error {
	for i := 1; t[i].kind != tokEOF; i++ {
		switch {
		case t[i].word == "FETCH" && (t[i+1].word == "NEXT" || t[i+1].word == "FIRST") && (back(t, i, 1).word == "ROW" || back(t, i, 1).word == "ROWS"):
			j := amount(t, i+2)
			for t[j].word != "ROW" && t[j].word != "ROWS" {
				if t[j].kind == tokEOF || t[j].word == ";" || t[j].word == ")" {
					return nearAt(text, t, j)
				}
				j++
			}
			if t[j+1].word != "ONLY" {
				return nearAt(text, t, j+1)
			}
		case t[i].word == "OFFSET" && t[i].kind == tokWord && (t[i+1].kind == tokNumber || t[i+1].kind == tokVariable):
			if j := amount(t, i+1); t[j].kind == tokEOF || t[j].word == ";" || t[j].word == ")" {
				return nearAt(text, t, j)
			}
		}
	}
	return nil
}

// amount steps over a number, a variable or a parenthesis.
func amount(t []token, i int) int {
	if t[i].word != "(" {
		if t[i].kind == tokEOF {
			return i
		}
		return i + 1
	}
	depth := 0
	for ; t[i].kind != tokEOF; i++ {
		switch t[i].word {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// heads checks the beginnings of CREATE PROCEDURE, VIEW and FUNCTION, which must
// stand alone in their batch.
func heads(text string, t []token) error {
	for i := 0; t[i].kind != tokEOF; i++ {
		if t[i].word != "CREATE" && t[i].word != "ALTER" || t[i].kind != tokWord {
			continue
		}
		j := i + 1
		if t[j].word == "OR" && t[j+1].word == "ALTER" {
			j += 2
		}
		kind := t[j].word
		switch kind {
		case "PROC", "PROCEDURE", "VIEW", "FUNCTION":
		default:
			continue
		}
		if i > 0 && back(t, i, 1).word == "OR" {
			continue
		}
		for k := 0; k < i; k++ {
			if t[k].word == "CREATE" && t[k+1].word == "SCHEMA" {
				return nil // schema elements
			}
			if t[k].word != ";" {
				if i > 0 && back(t, i, 1).word != ";" && (back(t, i, 1).word == "BEGIN" || back(t, i, 1).word == "ELSE" || t[k].word == "IF" || t[k].word == "WHILE") {
					return near(text, t[j])
				}
				if permissions[t[k].word] {
					return nil
				}
				name := kind
				if kind == "PROC" {
					name = "PROCEDURE"
				}
				return at(sqlerr.New(111, 15, 1, "'CREATE/ALTER %s' must be the first statement of its batch.", name), t[i].line)
			}
		}
		return body(text, t, j, kind)
	}
	return nil
}

// body checks that AS (of a function, RETURNS) comes before the first statement.
func body(text string, t []token, j int, kind string) error {
	if ends(t[j+1]) {
		return nearAt(text, t, j+1)
	}
	depth := 0
	for k := j + 1; ; k++ {
		switch w := t[k].word; {
		case t[k].kind == tokEOF:
			return nearAt(text, t, k)
		case w == "(":
			depth++
		case w == ")":
			depth--
		case t[k].kind != tokWord:
		case w == "AS" && depth > 0:
			// @p AS int is fine; AS SELECT is a parenthesis left open.
			if verbs[t[k+1].word] {
				return near(text, t[k+1])
			}
		case w == "AS" && back(t, k, 1).word != "EXECUTE" && back(t, k, 1).word != "EXEC" && back(t, k, 1).kind != tokVariable, w == "RETURNS" && kind == "FUNCTION":
			return nil
		case depth == 0 && (w == "SELECT" || w == "INSERT" || w == "UPDATE" || w == "DELETE" || w == "BEGIN" || w == "SET" || w == "DECLARE" || w == "RETURN" || w == "PRINT"):
			return near(text, t[k])
		}
	}
}
