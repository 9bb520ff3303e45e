package scenario

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gostress/pkg/driver"
)

// query runs text and returns its rows. The first error of class 11 or above is the error.
func query(ctx context.Context, s driver.Session, text string) ([][]any, error) {
	c := &collector{}
	if err := do(ctx, s, text, c); err != nil {
		return nil, err
	}
	return c.rows, nil
}

// do runs text and makes an error of the first error that the server sends.
func do(ctx context.Context, s driver.Session, text string, sink driver.Sink) error {
	out, err := s.Do(ctx, &driver.Request{Text: text}, sink)
	if err != nil {
		return err
	}
	if len(out.Errors) > 0 {
		return out.Errors[0]
	}
	return nil
}

// collector keeps the rows of all result sets.
type collector struct{ rows [][]any }

func (c *collector) Row(values []any) error {
	row := slices.Clone(values)
	for i, v := range row {
		if b, ok := v.([]byte); ok {
			row[i] = slices.Clone(b)
		}
	}
	c.rows = append(c.rows, row)
	return nil
}

func (c *collector) Event(driver.SinkEvent) error { return nil }

// printer passes on what the server prints, a line each.
type printer struct{ w io.Writer }

func (p printer) Row([]any) error { return nil }

func (p printer) Event(e driver.SinkEvent) error {
	// 3621 only says that an error ended its statement; the error says more.
	if e.Kind != driver.SinkMessage || e.Message.Class > 10 || e.Message.Number == 3621 || e.Message.Message == "" {
		return nil
	}
	_, err := fmt.Fprintf(p.w, "  %s\n", e.Message.Message)
	return err
}

// integer reads a number as a session may give it.
func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case int32:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case uint8:
		return int64(v), nil
	case int:
		return int64(v), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		return strconv.ParseInt(v, 10, 64)
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	case nil:
		return 0, fmt.Errorf("the server sent NULL where a number is expected")
	}
	return 0, fmt.Errorf("the server sent a %T where a number is expected", v)
}

func ints(row []any, n int) ([]int64, error) {
	if len(row) != n {
		return nil, fmt.Errorf("the server sent %d columns where %d are expected", len(row), n)
	}
	out := make([]int64, n)
	for i, v := range row {
		var err error
		if out[i], err = integer(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scalar runs a query that gives one number.
func scalar(ctx context.Context, s driver.Session, text string) (int64, error) {
	rows, err := query(ctx, s, text)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return 0, fmt.Errorf("the server sent %d rows where one number is expected", len(rows))
	}
	return integer(rows[0][0])
}

// str reads a string or NULL as a session may give it.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}
