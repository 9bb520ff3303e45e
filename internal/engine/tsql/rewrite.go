package tsql

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// edits turn a batch into one that teesql can read and turn the tree back. All
// but one keep every position: they overwrite text by blanks or by words of the
// same length.
type edits struct {
	text   string
	insert []insertion
	hash   []int // UTF-16 offsets of HASH in PRIMARY KEY NONCLUSTERED HASH (...)
	merge  []mergeHint
	source []int  // offsets of DATABASE_SNAPSHOT in RESTORE
	blank  []span // bytes that teesql does not see
	any    []quantified
	marks  []span // strings in quotation marks whose text teesql reads wrongly
}

// insertion is ASCII text put in before a byte, or a UTF-16 unit, of the batch.
type insertion struct {
	byte, unit int
	text       string
}

// rewrite finds what teesql cannot read, and puts in what ps says.
func rewrite(b *Batch, s *scanner, ps []patch) *edits {
	e := &edits{}
	t := s.tokens
	var out []byte
	edit := func() []byte {
		if out == nil {
			out = []byte(b.Text)
		}
		return out
	}
	wide := len(s.nested) > 0 && len(b.wide) > 0
	for _, n := range s.nested {
		if !wide {
			overwrite(edit(), n.lo, n.hi, "")
		}
	}
	for _, m := range s.marks {
		inner := b.Text[m.lo+1 : m.hi-1]
		out := edit()
		out[m.lo], out[m.hi-1] = '\'', '\''
		if !strings.ContainsAny(inner, "'\"") {
			continue
		}
		e.marks = append(e.marks, m)
		for i := m.lo + 1; i < m.hi-1; i++ {
			if out[i] == '\'' {
				out[i] = '?'
			}
		}
	}
	for i := range t {
		switch t[i].word {
		case "HASH":
			if t[i].kind == tokWord && keyBefore(t, i) {
				e.hash = append(e.hash, b.unitOffset(t[i].pos))
				overwrite(edit(), t[i].pos, t[i].end, "")
			}
		case "{":
			if j, ok := odbcCall(t, i); ok {
				overwrite(edit(), t[i].pos, t[i+1].end, "EXEC")
				if j.open >= 0 {
					overwrite(edit(), t[j.open].pos, t[j.open].end, "")
					overwrite(edit(), t[j.close].pos, t[j.close].end, "")
				}
				overwrite(edit(), t[j.end].pos, t[j.end].end, "")
				e.blank = append(e.blank, span{t[i].pos, t[j.end].end})
			}
		case "MERGE":
			if h, ok := mergeHints(b, t, i); ok {
				e.merge = append(e.merge, h)
				overwrite(edit(), h.lo, h.hi, "")
			}
		case "<", ">", "!":
			// "> =" is one operator.
			if n := t[i+1]; n.word == "=" || n.word == ">" && t[i].word != ">" || n.word == "<" && t[i].word == "!" {
				if n.pos > t[i].end && strings.TrimSpace(b.Text[t[i].end:n.pos]) == "" {
					overwrite(edit(), t[i].pos, n.end, t[i].word+n.word)
				}
			}
		case "ALL", "ANY", "SOME":
			if q, lo, ok := quantifier(t, i); ok {
				q.query = b.unitOffset(t[i+2].pos)
				e.any = append(e.any, q)
				overwrite(edit(), lo, t[i].end, "IN")
			}
		case "THROW":
			// teesql takes what follows for its number.
			if n := t[i+1]; n.kind == tokWord && n.word != "" && n.word[0] != '@' {
				e.insert = append(e.insert, insertion{t[i].end, b.unitOffset(t[i].end), ";"})
			}
		case "WORK":
			if i > 0 && (back(t, i, 1).word == "ROLLBACK" || back(t, i, 1).word == "COMMIT") {
				overwrite(edit(), t[i].pos, t[i].end, "")
				e.blank = append(e.blank, span{t[i].pos, t[i].end})
			}
		case "DATABASE_SNAPSHOT":
			if i > 1 && back(t, i, 1).word == "FROM" && t[i+1].word == "=" {
				e.source = append(e.source, b.unitOffset(t[i].pos))
				overwrite(edit(), t[i].pos, t[i].end, "DISK")
			}
		case "COLLATE":
			if i > 0 && insertBulk(t, i) {
				overwrite(edit(), t[i].pos, t[i+1].end, "")
			}
		}
	}
	e.text = b.Text
	if out != nil {
		e.text = string(out)
	}
	if wide {
		e.text = blankComments(e.text, s.nested)
	}
	if implicitExec(t) {
		e.insert = append(e.insert, insertion{t[0].pos, b.unitOffset(t[0].pos), "EXEC "})
	}
	insert := func(pos int, text string) {
		e.insert = append(e.insert, insertion{pos, b.unitOffset(pos), text})
	}
	rows := valuesOfMerge{}
	for i := range t {
		switch {
		case t[i].kind == tokNumber && b.Text[t[i].pos] == '.':
			insert(t[i].pos, "0")
		case t[i].word == "THROW" && t[i].kind == tokWord && t[i+1].kind == tokWord && (starters[t[i+1].word] || t[i+1].word == "ELSE"):
			insert(t[i].end, ";")
		case t[i].word == "USING":
			if v, ok := mergeValues(t, i); ok {
				rows = v
			}
		}
		switch {
		case rows.columns == 0:
		case i == rows.open:
			insert(t[i].end, "SELECT*FROM(")
		case i == rows.close:
			insert(t[i].pos, rows.alias())
			rows = valuesOfMerge{}
		}
	}
	for _, p := range ps {
		e.insert = append(e.insert, insertion{p.at, b.unitOffset(p.at), p.text})
	}
	slices.SortStableFunc(e.insert, func(x, y insertion) int { return x.byte - y.byte })
	if len(e.insert) > 0 {
		e.splice()
	}
	return e
}

// splice puts the insertions into the text. A comment that was blanked may have
// changed its length in bytes, but not its length in units: insertions that come
// after one are found again from there.
func (e *edits) splice() {
	src := newSource(e.text)
	var out strings.Builder
	pos := 0
	for i := range e.insert {
		in := &e.insert[i]
		at := src.byteOffset(in.unit)
		out.WriteString(e.text[pos:at])
		out.WriteString(in.text)
		pos = at
	}
	out.WriteString(e.text[pos:])
	e.text = out.String()
}

// original turns a UTF-16 offset of the rewritten text into one of the batch.
func (e *edits) original(unit int) int {
	added := 0
	for _, in := range e.insert {
		at := in.unit + added
		if unit <= at {
			break
		}
		added += min(len(in.text), unit-at)
	}
	return unit - added
}

// prefix returns the beginning of the rewritten text that ends where token t ends.
func (e *edits) prefix(b *Source, t token) string {
	unit := b.unitOffset(t.end)
	for _, in := range e.insert {
		if in.byte < t.end {
			unit += len(in.text)
		}
	}
	src := newSource(e.text)
	return e.text[:src.byteOffset(unit)]
}

// overwrite replaces bytes lo to hi by word and blanks, keeping line ends.
func overwrite(out []byte, lo, hi int, word string) {
	for i := lo; i < hi; i++ {
		switch {
		case i-lo < len(word):
			out[i] = word[i-lo]
		case out[i] != '\n' && out[i] != '\r':
			out[i] = ' '
		}
	}
}

// blankComments overwrites comments of text beyond ASCII by as many UTF-16 units.
func blankComments(text string, comments []span) string {
	var out strings.Builder
	pos := 0
	for _, c := range comments {
		out.WriteString(text[pos:c.lo])
		for _, r := range text[c.lo:c.hi] {
			switch {
			case r == '\n' || r == '\r':
				out.WriteRune(r)
			case r > 0xFFFF:
				out.WriteString("  ")
			default:
				out.WriteByte(' ')
			}
		}
		pos = c.hi
	}
	out.WriteString(text[pos:])
	return out.String()
}

// keyBefore reports whether HASH at i belongs to a key: teesql knows it there
// only in some places.
func keyBefore(t []token, i int) bool {
	if i > 0 && back(t, i, 1).word == "NONCLUSTERED" {
		i--
	}
	if i == 0 {
		return false
	}
	return back(t, i, 1).word == "KEY" || back(t, i, 1).word == "UNIQUE" && (i < 2 || back(t, i, 2).kind != tokWord || back(t, i, 2).word != "INDEX" && !followsIndexName(t, i-1))
}

// followsIndexName reports whether the word at i stands after INDEX name.
func followsIndexName(t []token, i int) bool {
	return i >= 2 && back(t, i, 2).word == "INDEX"
}

type callMarks struct{ open, close, end int }

// odbcCall recognizes {call name} and {call name(...)}.
func odbcCall(t []token, i int) (callMarks, bool) {
	m := callMarks{open: -1}
	if t[i+1].word != "CALL" {
		return m, false
	}
	depth := 0
	for j := i + 2; j < len(t); j++ {
		switch t[j].word {
		case "{":
			return m, false
		case "(":
			if depth == 0 && m.open < 0 {
				m.open = j
			}
			depth++
		case ")":
			if depth--; depth == 0 {
				m.close = j
			}
		case "}":
			m.end = j
			return m, depth == 0
		}
	}
	return m, false
}

// valuesOfMerge is USING (VALUES ...) AS name (columns) in a MERGE, which teesql
// reads only as USING (SELECT * FROM (VALUES ...) AS v (...)) AS name (columns).
type valuesOfMerge struct{ open, close, columns int }

// mergeValues recognizes it at USING. Without names for its columns it is an error anyway.
func mergeValues(t []token, i int) (valuesOfMerge, bool) {
	v := valuesOfMerge{open: i + 1}
	if t[i+1].word != "(" || t[i+2].word != "VALUES" {
		return v, false
	}
	depth := 0
	for v.close = i + 1; t[v.close].kind != tokEOF; v.close++ {
		if t[v.close].word == "(" {
			depth++
		} else if t[v.close].word == ")" {
			if depth--; depth == 0 {
				break
			}
		}
	}
	j := v.close + 1
	for ; t[j-1].kind != tokEOF && t[j].kind != tokEOF && t[j].word != "("; j++ {
		if j > v.close+2 {
			return v, false
		}
	}
	for ; t[j].kind != tokEOF && t[j].word != ")"; j++ {
		if t[j].kind == tokWord || t[j].kind == tokQuoted {
			v.columns++
		}
	}
	return v, t[j].word == ")" && v.columns > 0
}

// alias closes the inner query and names it.
func (v valuesOfMerge) alias() string {
	var b strings.Builder
	b.WriteString(")AS v(")
	for i := range v.columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("c" + strconv.Itoa(i+1))
	}
	b.WriteByte(')')
	return b.String()
}

// mergeHint is WITH (...) between the target of a MERGE and its alias.
type mergeHint struct {
	lo, hi int // bytes
	start  int // UTF-16 offset of MERGE
	hints  []*ast.TableHint
}

// mergeHints finds MERGE [TOP (..)] [INTO] name WITH (hints) [AS] alias.
func mergeHints(b *Batch, t []token, i int) (mergeHint, bool) {
	h := mergeHint{start: b.unitOffset(t[i].pos)}
	j := i + 1
	if t[j].word == "TOP" {
		return h, false
	}
	if t[j].word == "INTO" {
		j++
	}
	for t[j].kind == tokWord && t[j].word != "WITH" || t[j].kind == tokQuoted || t[j].kind == tokVariable {
		j++
		if t[j].word != "." {
			break
		}
		j++
	}
	if t[j].word != "WITH" || t[j+1].word != "(" {
		return h, false
	}
	h.lo = t[j].pos
	for j += 2; t[j].word != ")"; j++ {
		if t[j].word == "," {
			continue
		}
		if t[j].kind != tokWord {
			return h, false
		}
		kind, ok := hintKinds[t[j].word]
		if !ok {
			return h, false
		}
		n := &ast.TableHint{HintKind: kind}
		lo := b.unitOffset(t[j].pos)
		n.SetSpan(lo, b.unitOffset(t[j].end)-lo, t[j].line, 1)
		h.hints = append(h.hints, n)
	}
	h.hi = t[j].end
	next := t[j+1]
	return h, next.word == "AS" || next.kind == tokQuoted || next.kind == tokWord && next.word != "USING"
}

var hintKinds = map[string]string{
	"HOLDLOCK": "HoldLock", "SERIALIZABLE": "Serializable", "UPDLOCK": "UpdLock", "XLOCK": "XLock",
	"ROWLOCK": "Rowlock", "PAGLOCK": "PagLock", "TABLOCK": "TabLock", "TABLOCKX": "TabLockX",
	"READPAST": "ReadPast", "READCOMMITTED": "ReadCommitted", "REPEATABLEREAD": "RepeatableRead",
	"READUNCOMMITTED": "ReadUncommitted", "NOLOCK": "NoLock", "SNAPSHOT": "Snapshot", "NOWAIT": "NoWait",
}

// insertBulk reports whether the token at i is inside INSERT BULK.
func insertBulk(t []token, i int) bool {
	return len(t) > 1 && t[0].word == "INSERT" && t[1].word == "BULK"
}

// implicitExec reports whether a batch begins with the name of a procedure: there,
// and only there, EXEC may be left out.
func implicitExec(t []token) bool {
	switch t[0].kind {
	case tokQuoted:
		return true
	case tokWord:
		return !starters[t[0].word] && !reserved[t[0].word] && t[1].word != ":"
	}
	return false
}

// restore turns the tree of the rewritten text into one of the batch.
func (e *edits) restore(b *Batch) {
	if len(e.insert) > 0 {
		e.shift(b)
	}
	if len(e.marks) > 0 {
		texts := map[int]string{} // by their UTF-16 offsets
		for _, m := range e.marks {
			texts[b.unitOffset(m.lo)] = strings.ReplaceAll(b.Text[m.lo+1:m.hi-1], `""`, `"`)
		}
		for _, st := range b.Statements {
			visit(reflect.ValueOf(st), func(n any) {
				if l, ok := n.(*ast.StringLiteral); ok && l.HasSpan() {
					if text, ok := texts[l.StartOffset]; ok {
						l.Value = text
					}
				}
			})
		}
	}
	if len(e.any) > 0 {
		e.quantify(b)
	}
	for _, at := range e.hash {
		for _, st := range b.Statements {
			f := fragment(st)
			if f == nil || at < f.StartOffset || at >= f.EndOffset() {
				continue
			}
			var inner *ast.UniqueConstraintDefinition
			visit(reflect.ValueOf(st), func(n any) {
				if u, ok := n.(*ast.UniqueConstraintDefinition); ok && u.HasSpan() && u.StartOffset <= at && at < u.EndOffset() {
					inner = u
				}
			})
			if inner != nil {
				if inner.IndexType == nil {
					inner.IndexType = &ast.IndexType{}
				}
				inner.IndexType.IndexTypeKind = "NonClusteredHash"
			}
		}
	}
	for _, h := range e.merge {
		Statements(b.Statements, func(st ast.Statement) {
			m, ok := st.(*ast.MergeStatement)
			if !ok || m.MergeSpecification == nil || m.StartOffset != h.start {
				return
			}
			if t, ok := m.MergeSpecification.Target.(*ast.NamedTableReference); ok {
				for _, hint := range h.hints {
					t.TableHints = append(t.TableHints, hint)
				}
			}
		})
	}
	if len(e.source) > 0 {
		Statements(b.Statements, func(st ast.Statement) {
			if r, ok := st.(*ast.RestoreStatement); ok {
				for _, d := range r.Devices {
					d.DeviceType = "DatabaseSnapshot"
				}
			}
		})
	}
}

// shift turns the positions of the tree into those of the batch. Columns are not
// kept: nothing uses them.
func (e *edits) shift(b *Batch) {
	seen := map[*ast.Fragment]bool{}
	for _, st := range b.Statements {
		visit(reflect.ValueOf(st), func(node any) {
			f := fragment(node)
			if f == nil || !f.HasSpan() || seen[f] {
				return
			}
			seen[f] = true
			lo, hi := e.original(f.StartOffset), e.original(f.EndOffset())
			f.StartOffset, f.FragmentLength = lo, hi-lo
		})
	}
}
