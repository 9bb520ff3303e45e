package observe

import (
	"slices"
	"strings"
)

// edge is a session that waits for another, a row of sys.dm_os_waiting_tasks.
type edge struct {
	waiter, blocker         int64
	waiterOurs, blockerOurs bool
	waiterSystem            bool   // no user's session: the server's own tasks are nobody's trouble
	kind                    string // wait_type
}

// blockedOthers counts the sessions not ours that wait behind one of ours, at whatever distance.
// Sessions of ours behind others of ours do not count, nor does who waits for a latch, which is
// held for an instant, or for another thread of the same session, nor the server's own tasks.
func blockedOthers(edges []edge) int {
	behind := map[int64][]int64{} // who waits for whom; the blocker's number may be below 0
	ours, system := map[int64]bool{}, map[int64]bool{}
	for _, e := range edges {
		if e.waiter == e.blocker || latch(e.kind) {
			continue
		}
		ours[e.waiter] = ours[e.waiter] || e.waiterOurs
		ours[e.blocker] = ours[e.blocker] || e.blockerOurs
		system[e.waiter] = e.waiterSystem
		behind[e.waiter] = append(behind[e.waiter], e.blocker)
	}
	n := 0
	for waiter := range behind {
		if !ours[waiter] && !system[waiter] && leads(behind, ours, waiter) {
			n++
		}
	}
	return n
}

// leads says whether a chain of waits leads from a session to one of ours. Chains can be circles
// until a deadlock is found.
func leads(behind map[int64][]int64, ours map[int64]bool, from int64) bool {
	seen := map[int64]bool{from: true}
	for next := slices.Clone(behind[from]); len(next) > 0; {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		switch {
		case ours[s]:
			return true
		case !seen[s]:
			seen[s] = true
			next = append(next, behind[s]...)
		}
	}
	return false
}

func latch(waitType string) bool {
	return strings.HasPrefix(waitType, "PAGELATCH_") || strings.HasPrefix(waitType, "PAGEIOLATCH_") || strings.HasPrefix(waitType, "LATCH_")
}
