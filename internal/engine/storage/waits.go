package storage

import "time"

// WaitKind is what a transaction waits for.
type WaitKind uint8

const (
	WaitExclusive WaitKind = iota // to change a row that another transaction has
	WaitUpdate                    // to lock such a row
	WaitShared                    // to know whether such a row is there
	WaitCommit                    // for the outcome of a transaction that is being validated
)

// Wait is a transaction that waits for another.
type Wait struct {
	Session, Blocking int // as SetSession told; 0 when nobody did
	Kind              WaitKind
	Since             time.Time
}

// Waits returns the transactions that wait at this moment, in no order.
func (s *Store) Waits() []Wait {
	s.waits.Lock()
	defer s.waits.Unlock()
	if len(s.waiting) == 0 {
		return nil
	}
	list := make([]Wait, 0, len(s.waiting))
	for _, w := range s.waiting {
		list = append(list, Wait{Session: int(s.slot(w.slotNo).session.Load()), Blocking: int(w.target.session.Load()), Kind: w.kind, Since: w.since})
	}
	return list
}
