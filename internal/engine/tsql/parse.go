package tsql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"

	"gostress/internal/engine/sqlerr"
)

func parse(text string, quotedIdentifier bool) (*Batch, error) {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	s, err := scan(text, quotedIdentifier)
	if err != nil {
		return nil, err
	}
	if len(s.tokens) == 1 {
		return &Batch{Source: newSource(text)}, nil
	}
	// What looks at tokens looks up to two ahead.
	end := s.tokens[len(s.tokens)-1]
	s.tokens = append(s.tokens, end, end)
	if err := check(text, s.tokens); err != nil {
		return nil, err
	}
	b, err := tree(text, s, nil)
	if err == nil {
		return b, nil
	}
	if ps := patches(s.tokens); len(ps) > 0 {
		if again, err := tree(text, s, ps); err == nil {
			return again, nil
		}
	}
	return nil, err
}

// tree parses a batch that passed the checks of its tokens. ps is put into the
// text that teesql reads.
func tree(text string, s *scanner, ps []patch) (*Batch, error) {
	b := &Batch{Source: newSource(text)}
	e := rewrite(b, s, ps)
	script, err := read(e.text)
	if err != nil {
		return nil, locate(&b.Source, e, s.tokens, err)
	}
	for _, sb := range script.Batches {
		b.Statements = append(b.Statements, sb.Statements...)
	}
	e.restore(b)
	patchTypes(b)
	if err := covered(b, s.tokens, e.blank); err != nil {
		return nil, err
	}
	if err := inspect(b, s.tokens); err != nil {
		return nil, err
	}
	return b, nil
}

// read calls teesql. A panic there is an error of the text, not of the server.
func read(text string) (script *ast.Script, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return parser.Parse(context.Background(), strings.NewReader(text))
}

// covered checks that every token belongs to a statement: what teesql steps over
// (GO, an unknown word) is an error. The tokens in blank were hidden from it.
func covered(b *Batch, tokens []token, blank []span) error {
	i := 0
	skip := func(to int) error {
		for ; tokens[i].kind != tokEOF && tokens[i].pos < to; i++ {
			hidden := slices.ContainsFunc(blank, func(s span) bool { return s.lo <= tokens[i].pos && tokens[i].pos < s.hi })
			if tokens[i].word != ";" && !hidden {
				return near(b.Text, tokens[i])
			}
		}
		return nil
	}
	for _, st := range b.Statements {
		f := fragment(st)
		if f == nil || !f.HasSpan() {
			return nil
		}
		if err := skip(b.byteOffset(f.StartOffset)); err != nil {
			return err
		}
		for hi := b.byteOffset(f.EndOffset()); tokens[i].kind != tokEOF && tokens[i].pos < hi; i++ {
		}
	}
	return skip(len(b.Text))
}

// near is error 102 or, for a reserved word, 156.
func near(text string, t token) *sqlerr.Error {
	s := t.text(text)
	if t.kind == tokWord && reserved[t.word] {
		return at(sqlerr.SyntaxKeyword(s), t.line)
	}
	if t.kind == tokString || t.kind == tokQuoted {
		s = unquote(s)
	}
	return at(sqlerr.Syntax(s), t.line)
}

// nearAt is near for token i. What is missing at the end of the batch is error
// 102 with the last token, a keyword too.
func nearAt(text string, tokens []token, i int) *sqlerr.Error {
	for i > 0 && tokens[i].kind == tokEOF && tokens[i-1].kind == tokEOF {
		i--
	}
	if tokens[i].kind != tokEOF || i == 0 {
		return near(text, tokens[i])
	}
	last := tokens[i-1]
	s := last.text(text)
	if last.kind == tokString || last.kind == tokQuoted {
		s = unquote(s)
	}
	return at(sqlerr.Syntax(s), last.line)
}

func unquote(s string) string {
	s = strings.TrimLeft(s, "nN")
	if len(s) >= 2 {
		return s[1 : len(s)-1]
	}
	return s
}

// tokenAt returns the token that holds a byte offset.
func tokenAt(tokens []token, offset int) int {
	lo, hi := 0, len(tokens)-1
	for lo < hi {
		m := (lo + hi) / 2
		if tokens[m].end <= offset {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// back returns the token n before token i, an empty one before the first.
func back(t []token, i, n int) token {
	if i < n {
		return token{}
	}
	return t[i-n]
}
