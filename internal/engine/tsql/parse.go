package tsql

import (
	"context"
	"strings"

	"github.com/sqlc-dev/teesql/parser"

	"gostress/internal/engine/sqlerr"
)

func parse(text string) (*Batch, error) {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	b := &Batch{Source: newSource(text)}
	script, err := parser.Parse(context.Background(), strings.NewReader(text))
	if err != nil {
		return nil, sqlerr.New(102, 15, 1, "%v", err)
	}
	for _, sb := range script.Batches {
		b.Statements = append(b.Statements, sb.Statements...)
	}
	patchTypes(b)
	return b, nil
}
