package result

// Counts tell what became of batches. Always
//
//	attempted = batches + failed_batches + skipped + cancelled + in_doubt
type Counts struct {
	// Attempted counts batches taken up, the other five what came of them, as the same names do in
	// Load.
	Attempted     int64 `json:"attempted"`
	Batches       int64 `json:"batches"`
	FailedBatches int64 `json:"failed_batches"`
	InDoubt       int64 `json:"in_doubt"`
	Cancelled     int64 `json:"cancelled"`
	Skipped       int64 `json:"skipped"`
}

// Sound says that the counts add up.
func (c Counts) Sound() bool {
	return c.Attempted == c.Batches+c.FailedBatches+c.InDoubt+c.Cancelled+c.Skipped
}

// Class is what became of a batch that did not succeed, as finely as it is told apart.
type Class string

const (
	// ClassError is an answer with an error of class 11 or above that no other class has.
	ClassError Class = "error"
	// ClassDeadlock is error 1205.
	ClassDeadlock Class = "deadlock"
	// ClassConflict is a write conflict or failed validation: 3960, 41301, 41302, 41305, 41325, 41839.
	ClassConflict Class = "conflict"
	// ClassThrottled is a transient error of Azure's.
	ClassThrottled Class = "throttled"
	// ClassTimeout is a batch that the query timeout cancelled.
	ClassTimeout Class = "timeout"
	// ClassLost is a batch whose connection broke.
	ClassLost Class = "lost"
)

// Classes are the classes, in the order of reports.
func Classes() []Class {
	return []Class{ClassError, ClassDeadlock, ClassConflict, ClassThrottled, ClassTimeout, ClassLost}
}

// Statement is one of the things that a run sends under a name of its own: an input, or an entry of
// a mix.
type Statement struct {
	Name string `json:"name"`
	Counts
	// BatchesPerS is Batches over the run's measured seconds.
	BatchesPerS float64 `json:"batches_per_s"`
	// Rows counts rows received.
	Rows int64 `json:"rows"`
	// Latency is of what succeeded: in an open loop from the intended start, else the service time.
	Latency Percentiles `json:"latency"`
	// Service is the service time of what succeeded, from the actual start, in an open loop.
	Service *Percentiles `json:"service,omitempty"`
	// FailedBy is the service time of what did not succeed, by class.
	FailedBy map[Class]Percentiles `json:"failed_by,omitempty"`
}

// Stage is a part of a run with a number of connections or a rate of its own. A batch belongs to
// the stage in which it ended.
type Stage struct {
	Name string `json:"name"`
	// Connections is the number asked for; zero when the stage asks for none.
	Connections int `json:"connections,omitempty"`
	// RatePerS is the arrivals a second asked for; zero in a closed loop.
	RatePerS float64 `json:"rate_per_s,omitempty"`
	// FromS is the stage's beginning since the measured part began, ForS how long it lasted, seconds.
	FromS float64 `json:"from_s"`
	ForS  float64 `json:"for_s"`
	Counts
	// BatchesPerS is Batches over ForS.
	BatchesPerS float64      `json:"batches_per_s"`
	Latency     Percentiles  `json:"latency"`
	Service     *Percentiles `json:"service,omitempty"`
}

// Health says whether the generator itself could have shaped the result, over the measured part.
type Health struct {
	// CPUShare is the CPU seconds used over seconds times processors, 0 to 1.
	CPUShare float64 `json:"cpu_share"`
	// GCPauses counts the collector's pauses; the times are theirs, microseconds.
	GCPauses       int64   `json:"gc_pauses"`
	GCPauseMaxUS   float64 `json:"gc_pause_max_us"`
	GCPauseTotalUS float64 `json:"gc_pause_total_us"`
	// SchedDelayP50US and SchedDelayP99US are how long goroutines that could run waited for a
	// processor, microseconds.
	SchedDelayP50US float64 `json:"sched_delay_p50_us"`
	SchedDelayP99US float64 `json:"sched_delay_p99_us"`
	// LongestStallUS is the longest time that this process did not run when it should have,
	// microseconds.
	LongestStallUS float64 `json:"longest_stall_us"`
	// StartError is how far behind its intended start an arrival began for which a connection was
	// free, in an open loop.
	StartError *Percentiles `json:"start_error,omitempty"`
	// Warnings say in words what of this could have shaped the result.
	Warnings []string `json:"warnings,omitempty"`
}

// Threshold is a condition on a result, and whether it held.
type Threshold struct {
	// Expr is the condition as given, such as p99<20ms.
	Expr string `json:"expr"`
	// Value is what was found and Limit what it was held against, both in the unit Unit: "us", "/s",
	// "" for a count or a share.
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit,omitempty"`
	OK    bool    `json:"ok"`
	// Note says why there is no value, when there is none; OK is false then.
	Note string `json:"note,omitempty"`
}

// Verdict is what thresholds come to.
type Verdict string

const (
	Passed Verdict = "passed"
	Failed Verdict = "failed"
	// Void is the verdict on a run whose generator could not hold the rate asked for.
	Void Verdict = "void"
)

// Set is the JSON report of several runs: repetitions of one, or a sweep over numbers of connections.
type Set struct {
	Schema int    `json:"schema"`
	Tool   string `json:"tool"`
	// Kind is "repeat" or "sweep".
	Kind string `json:"kind"`
	Runs []Run  `json:"runs"`
	// USL is the fit of a sweep; nil when there are too few points for one.
	USL *USL `json:"usl,omitempty"`
}

// USL is the Universal Scalability Law fitted to a sweep: with n connections the rate is
//
//	lambda * n / (1 + sigma*(n-1) + kappa*n*(n-1))
//
// after N. J. Gunther, Guerrilla Capacity Planning (2007).
type USL struct {
	// Lambda is the rate of one connection, a second; Sigma the contention, Kappa the coherency.
	Lambda float64 `json:"lambda"`
	Sigma  float64 `json:"sigma"`
	Kappa  float64 `json:"kappa"`
	// Peak is the number of connections at which the law's rate is highest; zero when it never falls.
	Peak float64 `json:"peak,omitempty"`
	// R2 is the share of the rates' variance that the fit explains.
	R2 float64 `json:"r2"`
	// Knee is the number of connections, of those swept, above which one more brings little.
	Knee int `json:"knee,omitempty"`
}
