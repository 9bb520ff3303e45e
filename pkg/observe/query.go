package observe

import (
	"context"
	"errors"
	"slices"

	"gostress/pkg/driver"
)

// query runs text and returns its result sets. The first error of class 11 or above is the error.
func query(ctx context.Context, s driver.Session, text string) ([][][]any, error) {
	var c collector
	out, err := s.Do(ctx, &driver.Request{Text: text, Plain: true}, &c)
	if err != nil {
		return nil, err
	}
	if len(out.Errors) > 0 {
		return nil, out.Errors[0]
	}
	return c.sets, nil
}

// only is the rows of the one result set there is.
func only(sets [][][]any) [][]any {
	if len(sets) != 1 {
		return nil
	}
	return sets[0]
}

var errNoColumns = errors.New("the server sent a row without columns")

// collector keeps the rows of result sets.
type collector struct{ sets [][][]any }

// Row implements driver.Sink.
func (c *collector) Row(values []any) error {
	row := slices.Clone(values)
	for i, v := range row {
		if b, ok := v.([]byte); ok {
			row[i] = slices.Clone(b)
		}
	}
	last := len(c.sets) - 1
	if last < 0 {
		return errNoColumns
	}
	c.sets[last] = append(c.sets[last], row)
	return nil
}

// Event implements driver.Sink.
func (c *collector) Event(e driver.SinkEvent) error {
	if e.Kind == driver.SinkColumns {
		c.sets = append(c.sets, nil)
	}
	return nil
}
