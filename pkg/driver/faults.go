package driver

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Faults are what a run does to its own connections and batches, in per cent of them, 0 to 100.
// Which ones is a function of the seed, the worker and the number of the batch or iteration alone. They
// fall on the first sending of a batch, and a batch that they cut or cancelled is not sent again.
type Faults struct {
	// DisconnectPct is of iterations after which the connection is ended in good order and opened
	// again.
	DisconnectPct float64
	// BatchDisconnectPct is of batches whose connection is cut while they are in flight, or right
	// behind them when they are quicker. The logins that follow wait for nothing but their turn, 50
	// a second over all workers, those that replace broken connections among them.
	BatchDisconnectPct float64
	// CancelPct is of batches that are cancelled in flight, at a moment between CancelDelayMin and
	// CancelDelay after their sending. One that ended before is not cancelled, nor is one whose
	// connection is cut.
	CancelPct                   float64
	CancelDelayMin, CancelDelay time.Duration
	// RollbackOnCancel rolls back what is open after a cancel.
	RollbackOnCancel bool
	Seed             uint64
}

var (
	errInjectedCancel = errors.New("cancelled by the run itself")
	errInjectedCut    = errors.New("the run itself cut the connection")
)

func (f *Faults) check() error {
	for name, pct := range map[string]float64{"DisconnectPct": f.DisconnectPct, "BatchDisconnectPct": f.BatchDisconnectPct, "CancelPct": f.CancelPct} {
		if math.IsNaN(pct) || pct < 0 || pct > 100 {
			return fmt.Errorf("%s is %v: it must lie between 0 and 100", name, pct)
		}
	}
	if f.CancelDelayMin < 0 || f.CancelDelay < 0 {
		return errors.New("a cancel cannot come before its batch")
	}
	return nil
}

// any says that batches have to be looked at.
func (f *Faults) any() bool { return f.BatchDisconnectPct > 0 || f.CancelPct > 0 }

// Salts tell the choices apart.
const (
	saltDisconnect = iota + 1
	saltCut
	saltCancel
	saltDelay
)

// hits says whether a choice of pct per cent falls on number n of a worker.
func (f *Faults) hits(pct float64, salt uint64, worker int, n int64) bool {
	return pct > 0 && f.draw(salt, worker, n)*100 < pct
}

// draw is a number in [0, 1).
func (f *Faults) draw(salt uint64, worker int, n int64) float64 {
	x := mix(f.Seed ^ mix(salt^mix(uint64(worker)^mix(uint64(n)))))
	return float64(x>>11) / (1 << 53)
}

// delay is when the cancel of batch n comes.
func (f *Faults) delay(worker int, n int64) time.Duration {
	from, to := f.CancelDelayMin, max(f.CancelDelayMin, f.CancelDelay)
	return from + time.Duration(f.draw(saltDelay, worker, n)*float64(to-from))
}

// mix is SplitMix64's finisher, which spreads neighbouring numbers (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
