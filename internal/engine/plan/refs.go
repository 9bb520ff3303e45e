package plan

// leafSet is a set of the leaves (row sources) of a statement, by number.
type leafSet []uint64

func (s leafSet) has(i int) bool { return i>>6 < len(s) && s[i>>6]&(1<<(i&63)) != 0 }

func (s *leafSet) add(i int) {
	for len(*s) <= i>>6 {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

func (s *leafSet) addAll(o leafSet) {
	for len(*s) < len(o) {
		*s = append(*s, 0)
	}
	for i, w := range o {
		(*s)[i] |= w
	}
}

// within reports whether every member of s is in o.
func (s leafSet) within(o leafSet) bool {
	for i, w := range s {
		if i < len(o) {
			w &^= o[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// meets reports whether s and o have a member in common.
func (s leafSet) meets(o leafSet) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// and returns the members that s and o have in common.
func (s leafSet) and(o leafSet) leafSet {
	r := make(leafSet, min(len(s), len(o)))
	for i := range r {
		r[i] = s[i] & o[i]
	}
	return r
}

// union returns a new set.
func (s leafSet) union(o leafSet) leafSet {
	r := append(leafSet(nil), s...)
	r.addAll(o)
	return r
}
