package exec

import "gostress/internal/engine/tsql"

const (
	// longText is the size in bytes from which on parsing a text takes long enough
	// to be waited for.
	longText = 128 << 10
	// maxLongParses is how many such texts are parsed at once: a parse cannot be
	// stopped, and one that was given up still takes time and memory.
	maxLongParses = 2
)

// parsed is what came of parsing a text.
type parsed struct {
	batch *tsql.Batch
	err   error
	fault any // what it panicked with
}

// parse parses a text under the session's options. A cancel does not wait for a
// long one.
func (s *Session) parse(text string) (*tsql.Batch, error) {
	quoted := s.set.quotedIdent
	if len(text) < longText || s.done == nil {
		return tsql.ParseQuoted(text, quoted)
	}
	select {
	case s.e.parsing <- struct{}{}:
	case <-s.done:
		return nil, s.cancelled()
	}
	got := make(chan parsed, 1)
	go func() {
		var p parsed
		defer func() {
			p.fault = recover()
			<-s.e.parsing
			got <- p
		}()
		p.batch, p.err = tsql.ParseQuoted(text, quoted)
	}()
	select {
	case p := <-got:
		if p.fault != nil {
			panic(p.fault)
		}
		return p.batch, p.err
	case <-s.done:
		return nil, s.cancelled()
	}
}
