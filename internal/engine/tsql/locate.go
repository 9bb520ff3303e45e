package tsql

import (
	"slices"
	"strings"
)

// locate finds the token at which teesql stopped. Its errors carry the token's
// text at best, so the shortest beginning of the batch is looked for that fails
// in the same way. Only batches with an error pay for it.
func locate(b *Source, e *edits, tokens []token, failure error) error {
	text := b.Text
	if err := known(text, tokens); err != nil {
		return err
	}
	message := failure.Error()
	n := slices.IndexFunc(tokens, func(t token) bool { return t.kind == tokEOF })
	same := func(i int) bool {
		_, err := read(e.prefix(b, tokens[i]))
		return err != nil && err.Error() == message
	}
	// A beginning that ends before the token fails at its own end, with another
	// message; one that goes beyond fails with this one.
	lo, hi := 0, n-1
	if hi < 0 {
		return nearAt(text, tokens, 0)
	}
	if !same(hi) {
		return nearAt(text, tokens, n)
	}
	for lo < hi {
		m := (lo + hi) / 2
		if same(m) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	// Messages without the token's text are also those of a beginning that
	// ends one token too early.
	for i := lo; i < n && i <= lo+2; i++ {
		if got := tokens[i].text(text); strings.HasSuffix(message, got) {
			return near(text, tokens[i])
		}
	}
	if strings.HasSuffix(message, "got ") || strings.HasSuffix(message, ": ") {
		return nearAt(text, tokens, n)
	}
	return near(text, tokens[min(lo+1, n-1)])
}
