package tsql

// keywords are words that teesql takes for keywords everywhere, though T-SQL
// does not reserve them: columns are called so.
var keywords = words(`
	ASYMMETRIC CALLER CATCH CERTIFICATE CONVERSATION COOKIE CREDENTIAL CUBE DECRYPTION DELAY DIALOG ENCRYPTION
	FAST FILESTREAM GET JOB LANGUAGE LOGIN MASTER MAXDOP MESSAGE MOVE NORESET NOREVERT NOTIFICATION NOWAIT PASSWORD
	QUERY RECEIVE RETURNS ROLLUP SCOPED SEND STATS STATUSONLY SUBSCRIPTION SYMMETRIC TIES TIME TRY TYPE WORK`)

// beforeName and afterName are the words between which such a word is a name.
var (
	beforeName = words(`SELECT DISTINCT ALL WHERE AND OR NOT BY ON HAVING SET CASE WHEN THEN ELSE BETWEEN LIKE IN RETURN
		, ( . = < > + - * / % & | ^ <> != <= >= += -= *= /=`)
	afterName = words(`FROM WHERE AS AND OR NOT LIKE IN IS BETWEEN ASC DESC END THEN WHEN ELSE ORDER GROUP HAVING UNION EXCEPT
		INTERSECT OPTION COLLATE INTO JOIN INNER LEFT RIGHT FULL CROSS ON
		, ) . ; = < > + - * / % & | ^ ! <> != <= >= += -= *= /=`)
)

// patch is text to put in at a byte offset of the batch.
type patch struct {
	at   int
	text string
}

// patches are what a batch that teesql refused is tried with once more: names in
// brackets by what stands around them, variables before an operator of bits in
// parentheses, and the end of a statement before a cursor's FETCH.
func patches(t []token) []patch {
	var out []patch
	around := func(i int, open, end string) {
		out = append(out, patch{t[i].pos, open}, patch{t[i].end, end})
	}
	for i := range t {
		if i == 0 || t[i].kind == tokEOF {
			continue
		}
		next := t[i+1]
		switch w := t[i].word; {
		case t[i].kind == tokVariable:
			if next.word == "&" || next.word == "|" || next.word == "^" {
				around(i, "(", ")")
			}
		case t[i].kind != tokWord:
		case keywords[w]:
			if beforeName[t[i-1].word] && (afterName[next.word] || next.kind == tokEOF) {
				around(i, "[", "]")
			}
		case w == "FETCH":
			if (next.word == "NEXT" || next.word == "FIRST" || next.word == "PRIOR" || next.word == "LAST") && t[i+2].word == "FROM" && t[i-1].word != ";" {
				out = append(out, patch{t[i].pos, ";"})
			}
		}
	}
	return out
}
