package scenario

import (
	"errors"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// request makes the request of a batch, whose ODBC escapes it resolves. A batch that is
// {call p} alone becomes a procedure called by name. The error is a *script.Error with the
// place in the input.
func request(text string, source driver.Source) (*driver.Request, error) {
	s, err := script.Escapes(text)
	if err != nil {
		var e *script.Error
		if errors.As(err, &e) {
			e.Path = source.File
			e.Line += max(source.Line, 1) - 1
		}
		return nil, err
	}
	if s.Proc != "" {
		return &driver.Request{Kind: driver.RPC, Proc: s.Proc, Source: source}, nil
	}
	return &driver.Request{Kind: driver.Text, Text: s.Text, Source: source}, nil
}
