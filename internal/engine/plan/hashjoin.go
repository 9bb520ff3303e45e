package plan

import (
	"gostress/internal/engine/expr"
	"gostress/internal/engine/types"
)

var nullValue types.Value

type joinKind uint8

const (
	joinInner joinKind = iota
	joinLeft
	joinFull
)

// hashJoin keeps the rows of its right side in a hash table and looks the rows
// of its left side up in it. Without keys it serves any condition: then every
// row of the right side is a candidate, but is made only once.
type hashJoin struct {
	kind        joinKind
	left, right node
	leftKeys    []evalFunc
	rightKeys   []evalFunc
	colls       []types.Collation
	conds       []cond
	regs        []int // of the right side
	leftRegs    []int // of the left side, for the NULLs of a full join
	// once tells that the right side is the same however often the join is
	// run: its table is kept until the statement ends.
	once bool
}

func (b *block) newHashJoin(kind joinKind, left, right node, leftItem, rightItem *treeItem, keys, conds []*conjunct, once bool) (node, error) {
	j := &hashJoin{kind: kind, left: left, right: right, once: once}
	var ts []types.Type
	for _, k := range keys {
		l, r := k.left, k.right
		if l.refs.meets(rightItem.leaves) {
			l, r = r, l
		}
		lx, rx, coll, err := b.common(l.ex, r.ex)
		if err != nil {
			return nil, err
		}
		j.leftKeys = append(j.leftKeys, lx.Eval)
		j.rightKeys = append(j.rightKeys, rx.Eval)
		ts = append(ts, types.Type{Coll: coll})
	}
	j.colls = collations(ts)
	for _, c := range conds {
		j.conds = append(j.conds, c.cond)
	}
	b.st.finish = append(b.st.finish, func() {
		j.regs = b.registersOf(rightItem.leaves)
		if kind == joinFull {
			j.leftRegs = b.registersOf(leftItem.leaves)
		}
	})
	return j, nil
}

func (n *hashJoin) bind(r *run, next step) step {
	in := &hashInstance{hashJoin: n, r: r, next: next}
	in.conds = bindConds(r, n.conds)
	k := len(n.leftKeys)
	in.table = rowTable{width: k + len(n.regs), keys: k, colls: n.colls}
	in.row = make([]types.Value, k+len(n.regs))
	in.key = make([]types.Value, k)
	in.buildStep = n.right.bind(r, in.build)
	in.probeStep = n.left.bind(r, in.probe)
	return in.run
}

type hashInstance struct {
	*hashJoin
	r                    *run
	next                 step
	conds                []func() (expr.Tri, error)
	table                rowTable
	row, key             []types.Value
	matched              []bool // full join: by row of the table
	buildStep, probeStep step
	built                uint64 // the run whose table it is
}

func (in *hashInstance) run() error {
	if !in.once || in.built != in.r.gen {
		in.built = 0
		in.table.reset()
		if err := in.buildStep(); err != nil {
			return err
		}
		in.built = in.r.gen
	}
	if in.table.n == 0 && in.kind == joinInner {
		return nil
	}
	if in.kind == joinFull {
		in.matched = append(in.matched[:0], make([]bool, in.table.n)...)
	}
	if err := in.probeStep(); err != nil {
		return err
	}
	if in.kind != joinFull {
		return nil
	}
	setNull(in.r.f, in.leftRegs)
	for i := range in.table.n {
		if in.matched[i] {
			continue
		}
		load(in.r.f, in.regs, in.table.row(i)[in.table.keys:])
		if err := in.next(); err != nil {
			return err
		}
	}
	return nil
}

func (in *hashInstance) build() error {
	f := in.r.f
	if err := evalInto(f, in.rightKeys, in.row); err != nil {
		return err
	}
	k := in.table.keys
	if anyNull(in.row[:k]) && in.kind != joinFull {
		return nil
	}
	save(f, in.regs, in.row[k:])
	in.table.add(hashRow(in.row[:k]), in.row)
	return nil
}

func (in *hashInstance) probe() error {
	f := in.r.f
	if err := evalInto(f, in.leftKeys, in.key); err != nil {
		return err
	}
	hit := false
	if !anyNull(in.key) {
		h := hashRow(in.key)
		for i := in.table.first(h, in.key); i >= 0; i = in.table.after(i, h, in.key) {
			if err := in.r.tick(); err != nil {
				return err
			}
			load(f, in.regs, in.table.row(i)[in.table.keys:])
			ok, err := holds(in.conds)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			hit = true
			if in.matched != nil {
				in.matched[i] = true
			}
			if err := in.next(); err != nil {
				return err
			}
		}
	}
	if hit || in.kind == joinInner {
		return nil
	}
	setNull(f, in.regs)
	return in.next()
}
