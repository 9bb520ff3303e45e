package tsql

import (
	"context"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"

	"gostress/internal/engine/sqlerr"
)

func parse(text string) (*Batch, error) {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	s, err := scan(text)
	if err != nil {
		return nil, err
	}
	b := &Batch{Source: newSource(text)}
	if len(s.tokens) == 1 {
		return b, nil
	}
	if err := check(text, s.tokens); err != nil {
		return nil, err
	}
	e := rewrite(b, s)
	script, err := parser.Parse(context.Background(), strings.NewReader(e.text))
	if err != nil {
		return nil, locate(text, e, s.tokens, err)
	}
	for _, sb := range script.Batches {
		b.Statements = append(b.Statements, sb.Statements...)
	}
	e.restore(b)
	patchTypes(b)
	if err := covered(b, s.tokens); err != nil {
		return nil, err
	}
	if err := inspect(b, s.tokens); err != nil {
		return nil, err
	}
	return b, nil
}

// covered checks that every token belongs to a statement: what teesql steps over
// (GO, an unknown word) is an error.
func covered(b *Batch, tokens []token) error {
	i := 0
	for _, st := range b.Statements {
		f := fragment(st)
		if f == nil || !f.HasSpan() {
			return nil
		}
		lo, hi := b.byteOffset(f.StartOffset), b.byteOffset(f.EndOffset())
		for ; tokens[i].kind != tokEOF && tokens[i].pos < lo; i++ {
			if tokens[i].word != ";" {
				return near(b.Text, tokens[i])
			}
		}
		for ; tokens[i].kind != tokEOF && tokens[i].pos < hi; i++ {
		}
	}
	for ; tokens[i].kind != tokEOF; i++ {
		if tokens[i].word != ";" {
			return near(b.Text, tokens[i])
		}
	}
	return nil
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

// nearAt is near for token i; at the end of the batch, the last token is named.
func nearAt(text string, tokens []token, i int) *sqlerr.Error {
	if tokens[i].kind == tokEOF && i > 0 {
		i--
	}
	return near(text, tokens[i])
}

func unquote(s string) string {
	s = strings.TrimLeft(s, "nN")
	if len(s) >= 2 {
		return s[1 : len(s)-1]
	}
	return s
}

// inspect refuses statements that teesql made out of what it could not read.
func inspect(b *Batch, tokens []token) error {
	var err error
	fail := func(st ast.Statement) {
		if err == nil {
			err = near(b.Text, tokens[tokenAt(tokens, b.Offset(st))])
		}
	}
	Statements(b.Statements, func(st ast.Statement) {
		switch st := st.(type) {
		case *ast.LabelStatement:
			i := tokenAt(tokens, b.Offset(st))
			if !strings.HasSuffix(st.Value, ":") || tokens[i+1].word != ":" {
				fail(st)
			}
		case *ast.ExecuteStatement:
			i := tokenAt(tokens, b.Offset(st))
			if w := tokens[i].word; w != "EXEC" && w != "EXECUTE" && i > 0 && w != "{" {
				fail(st)
			}
		}
	})
	return err
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
