package plan

import (
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// partition is the rows lo to hi of a window, for one call.
type partition struct {
	*windowInstance
	call   *windowCall
	at     int // the call's number
	lo, hi int
}

func (p *partition) set(i int, v types.Value) { p.out[i*len(p.calls)+p.at] = v }

func (p *partition) arg(i, k int) types.Value { return p.row(i)[p.args(p.at)+k] }

// peer reports whether two rows sort alike.
func (p *partition) peer(i, k int) bool {
	return p.compareKeys(p.row(i), p.row(k), p.parts, p.parts+p.orders) == 0
}

func big(n int) types.Value { return types.NewInt(types.KindBigInt, int64(n)) }

func (p *partition) compute() error {
	if p.call.agg != nil {
		return p.aggregates()
	}
	switch p.call.fn {
	case "ntile":
		return p.ntile()
	case "lag", "lead":
		return p.shifted()
	case "first_value", "last_value":
		return p.ends()
	}
	n := p.hi - p.lo
	rank, dense := 0, 0
	for i := p.lo; i < p.hi; i++ {
		if i == p.lo || !p.peer(i-1, i) {
			rank = i - p.lo + 1
			dense++
		}
		switch p.call.fn {
		case "row_number":
			p.set(i, big(i-p.lo+1))
		case "rank":
			p.set(i, big(rank))
		case "dense_rank":
			p.set(i, big(dense))
		case "percent_rank":
			r := 0.0
			if n > 1 {
				r = float64(rank-1) / float64(n-1)
			}
			p.set(i, types.NewFloat(r))
		case "cume_dist":
			last := i
			for last+1 < p.hi && p.peer(i, last+1) {
				last++
			}
			p.set(i, types.NewFloat(float64(last-p.lo+1)/float64(n)))
		}
	}
	return nil
}

// ntile deals the rows out to n groups; the first ones are larger by one.
func (p *partition) ntile() error {
	v := p.arg(p.lo, 0)
	if v.IsNull() || v.Int() <= 0 {
		return sqlerr.New(4116, 16, 1, "The function 'ntile' takes a positive integer only.")
	}
	rows, tiles := int64(p.hi-p.lo), v.Int()
	size, larger := rows/tiles, rows%tiles
	for i := p.lo; i < p.hi; i++ {
		k := int64(i - p.lo)
		t := k / (size + 1)
		if k >= larger*(size+1) {
			t = larger + (k-larger*(size+1))/max(size, 1)
		}
		p.set(i, types.NewInt(types.KindBigInt, t+1))
	}
	return nil
}

// shifted is LAG and LEAD.
func (p *partition) shifted() error {
	for i := p.lo; i < p.hi; i++ {
		d := int64(1)
		if p.call.offset.Eval != nil {
			o := p.arg(i, 1)
			if o.IsNull() {
				p.set(i, nullValue)
				continue
			}
			if d = o.Int(); d < 0 {
				return sqlerr.New(8730, 16, 1, "The offset of the LAG or LEAD function must not be negative.")
			}
		}
		if p.call.fn == "lag" {
			d = -d
		}
		at := int64(i) + d
		if at < int64(p.lo) || at >= int64(p.hi) {
			p.set(i, p.arg(i, 2))
			continue
		}
		p.set(i, p.arg(int(at), 0))
	}
	return nil
}

func (p *partition) ends() error {
	for i := p.lo; i < p.hi; i++ {
		from, to, err := p.bounds(i)
		if err != nil {
			return err
		}
		switch {
		case from >= to:
			p.set(i, nullValue)
		case p.call.fn == "first_value":
			p.set(i, p.arg(from, 0))
		default:
			p.set(i, p.arg(to-1, 0))
		}
	}
	return nil
}

// bounds is the frame of row i: from included, to not.
func (p *partition) bounds(i int) (from, to int, err error) {
	f := &p.call.frame
	if f.whole {
		return p.lo, p.hi, nil
	}
	if f.peers {
		to = i + 1
		for to < p.hi && p.peer(i, to) {
			to++
		}
		return p.lo, to, nil
	}
	if from, err = p.end(&f.from, i); err != nil {
		return 0, 0, err
	}
	if to, err = p.end(&f.to, i); err != nil {
		return 0, 0, err
	}
	return max(from, p.lo), min(to+1, p.hi), nil
}

func (p *partition) end(e *frameEnd, i int) (int, error) {
	switch {
	case e.unbounded && e.following:
		return p.hi - 1, nil
	case e.unbounded:
		return p.lo, nil
	case e.n.Eval == nil:
		return i, nil
	}
	v, err := e.n.Eval(p.r.f)
	if err != nil {
		return 0, err
	}
	if v.IsNull() || v.Int() < 0 {
		return 0, sqlerr.New(4195, 16, 1, "The bound of a window frame must be a number that is not negative.")
	}
	n := int(min(v.Int(), int64(p.hi-p.lo)+1))
	if e.following {
		return i + n, nil
	}
	return i - n, nil
}

// aggregates computes an aggregate over each row's frame. Frames that begin
// with the partition grow from row to row; the others are summed up anew.
func (p *partition) aggregates() error {
	a := p.call.agg
	var acc accumulator
	done := p.lo
	grows := p.call.frame.whole || p.call.frame.peers || p.call.frame.from.unbounded && !p.call.frame.from.following
	take := func(i int) error {
		if a.arg.Eval == nil {
			acc.n++
			return nil
		}
		if v := p.arg(i, 0); !v.IsNull() {
			return a.addValue(&acc, v)
		}
		return nil
	}
	for i := p.lo; i < p.hi; i++ {
		if err := p.r.tick(); err != nil {
			return err
		}
		from, to := p.lo, done
		if i == p.lo || !p.call.frame.whole && !(p.call.frame.peers && i < done) {
			var err error
			if from, to, err = p.bounds(i); err != nil {
				return err
			}
		}
		if !grows {
			acc = accumulator{}
			done = from
		}
		for ; done < to; done++ {
			if err := take(done); err != nil {
				return err
			}
		}
		v, err := a.result(&acc)
		if err != nil {
			return err
		}
		p.set(i, v)
	}
	return nil
}
