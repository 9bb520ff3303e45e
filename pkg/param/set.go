package param

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"gostress/pkg/driver"
)

// Order says which row of a table is next.
type Order string

const (
	// Sequential hands out the rows in order to whoever is next, over and over.
	Sequential Order = "sequential"
	// Shuffled does so in an order that the seed gives.
	Shuffled Order = "shuffled"
	// Random draws a row each time.
	Random Order = "random"
	// Slice gives each connection rows of its own: of n connections, every n-th row.
	Slice Order = "slice"
)

// ParseOrder reads an order's name.
func ParseOrder(s string) (Order, error) {
	all := []Order{Sequential, Shuffled, Random, Slice}
	if slices.Contains(all, Order(s)) {
		return Order(s), nil
	}
	return "", fmt.Errorf("%q is no order of parameters: there are sequential, shuffled, random and slice", s)
}

// Set is all parameters of a run.
type Set struct {
	table Table
	vars  []Var
	order Order
	seed  uint64
	perm  []int
	next  *atomic.Int64
}

// NewSet joins the rows of a table, which may be empty, and generated variables. The seed makes the
// draws of a worker's iteration repeatable.
func NewSet(t Table, order Order, vars []Var, seed uint64) (*Set, error) {
	s := &Set{table: t, vars: vars, order: order, seed: seed, next: new(atomic.Int64)}
	seen := map[string]bool{}
	for _, c := range s.Columns() {
		if seen[strings.ToLower(c.Name)] {
			return nil, fmt.Errorf("the parameter @%s is given twice", c.Name)
		}
		seen[strings.ToLower(c.Name)] = true
	}
	if len(seen) == 0 {
		return nil, errors.New("there are no parameters")
	}
	if order == Shuffled {
		s.perm = rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d)).Perm(len(t.Rows))
	}
	return s, nil
}

// Columns are the parameters, those of the table first.
func (s *Set) Columns() []Column {
	out := slices.Clone(s.table.Columns)
	for _, v := range s.vars {
		out = append(out, v.Column)
	}
	return out
}

// Draw gives the values of an iteration, in the order of Columns. It is called from many goroutines.
func (s *Set) Draw(w driver.Worker, iteration int64) []any {
	// SplitMix's constant spreads neighbouring seeds, which PCG mixes poorly in its first outputs.
	random := rand.New(rand.NewPCG(s.seed^mix(uint64(w.ID)), mix(uint64(iteration))))
	values := make([]any, 0, len(s.table.Columns)+len(s.vars))
	if n := int64(len(s.table.Rows)); n > 0 {
		var row int64
		switch s.order {
		case Random:
			row = random.Int64N(n)
		case Slice:
			row = (int64(w.Conn) + iteration*int64(max(w.Connections, 1))) % n
		case Shuffled:
			row = int64(s.perm[(s.next.Add(1)-1)%n])
		default:
			row = (s.next.Add(1) - 1) % n
		}
		values = append(values, s.table.Rows[row]...)
	}
	for _, v := range s.vars {
		values = append(values, v.draw(random))
	}
	return values
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
