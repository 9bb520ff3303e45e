package scenario

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/param"
)

// WithParams makes each iteration of a query's or script's unit draw values of a set and bind them
// to the @names of its batches, typed, through sp_executesql; inline puts literals into the text
// instead. The unused are parameters that no batch names. A procedure call without arguments takes
// none.
func WithParams(u driver.Unit, set *param.Set, inline bool) (bound driver.Unit, unused []string, err error) {
	p, ok := u.Program.(*batches)
	if !ok {
		return u, nil, errors.New("parameters are for -Q and .sql files")
	}
	b := &boundBatches{batches: p, set: set, inline: inline}
	columns := set.Columns()
	used := map[string]bool{}
	for _, s := range p.steps {
		binding := param.Bind(s.request.Text, columns)
		for _, c := range binding.Used() {
			used[c.Name] = true
		}
		b.bindings = append(b.bindings, binding)
	}
	for _, c := range columns {
		if !used[c.Name] {
			unused = append(unused, "@"+c.Name)
		}
	}
	u.Program = b
	return u, unused, nil
}

// ReadParams makes a table of parameters of the first result set of a query. Columns get the types
// that are declared for them, else their own.
func ReadParams(ctx context.Context, s driver.Session, text string, declared []param.Column) (param.Table, error) {
	c := &firstResult{}
	if err := do(ctx, s, text, c); err != nil {
		return param.Table{}, err
	}
	if c.sets == 0 {
		return param.Table{}, errors.New("the query for parameters gave no result set")
	}
	return param.FromRows(c.columns, c.rows, declared)
}

// firstResult keeps the first result set.
type firstResult struct {
	collector
	columns []driver.Column
	sets    int
}

func (c *firstResult) Row(values []any) error {
	if c.sets > 1 {
		return nil
	}
	return c.collector.Row(values)
}

func (c *firstResult) Event(e driver.SinkEvent) error {
	if e.Kind != driver.SinkColumns {
		return nil
	}
	if c.sets++; c.sets == 1 {
		c.columns = slices.Clone(e.Columns)
	}
	return nil
}

// boundBatches is a script with parameters, drawn once for an iteration.
type boundBatches struct {
	*batches
	set      *param.Set
	inline   bool
	bindings []param.Binding // of each step
}

func (p *boundBatches) Iteration(w driver.Worker, i int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		values := p.set.Draw(w, i)
		for at, s := range p.steps {
			r := s.request
			if b := p.bindings[at]; len(b.Used()) > 0 {
				// A request of its own each time: a session may keep what it made of an earlier one.
				own := *r
				if p.inline {
					own.Text = b.Inline(values)
				} else {
					own.Params = b.Params(values)
				}
				r = &own
			}
			for range s.count {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Unused says of parameters that no input names them; it is "" when every one is named somewhere.
func Unused(byUnit [][]string) string {
	if len(byUnit) == 0 {
		return ""
	}
	everywhere := slices.DeleteFunc(slices.Clone(byUnit[0]), func(name string) bool {
		return slices.ContainsFunc(byUnit[1:], func(other []string) bool { return !slices.Contains(other, name) })
	})
	return strings.Join(everywhere, ", ")
}
