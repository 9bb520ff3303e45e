// Package result holds what a run measured. Its structs are the JSON report: every key that
// carries a unit spells it (_s seconds, _us microseconds), and every count says of what.
// It imports the standard library alone.
package result

import "time"

// Schema is the version of the JSON layout written by this package. It grows when a key is
// removed or changes its meaning; new keys alone leave it as it is.
const Schema = 1

// Run is one run as reported: what was asked, where, and what came of it.
type Run struct {
	// Schema is the version of this layout, see the constant Schema.
	Schema int `json:"schema"`
	// Tool is the program's name, "gostress".
	Tool string `json:"tool"`
	// Version is the program's version.
	Version string `json:"version"`
	// RunID is the identity that the sessions carry in their program_name.
	RunID string `json:"run_id,omitempty"`
	// StartedAt is when the program began, UTC.
	StartedAt time.Time `json:"started_at"`
	// Args is the command line as given, passwords hidden by whoever fills it in.
	Args []string `json:"args"`
	// Units lists what the connections ran, one entry for each input file, query or workload.
	Units []Unit `json:"units"`
	// Server says where the load went; nil when that was never found out.
	Server *Server `json:"server,omitempty"`
	// Thresholds are the conditions that were set, Verdict what they come to, Aborted the condition
	// that ended the run.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Verdict    Verdict     `json:"verdict,omitempty"`
	Aborted    string      `json:"aborted,omitempty"`
	// Observer is what was seen of the server while the run went on, and what that took; nil when
	// nobody looked.
	Observer *Observer `json:"observer,omitempty"`

	Load
}

// Unit is one input file, query or workload and the connections that ran it.
type Unit struct {
	// Name is the file's path, "query" for -Q, or the workload's name.
	Name string `json:"name"`
	// Connections is the number of connections of this unit (-n).
	Connections int `json:"connections"`
	// Iterations is the number of iterations asked of each connection (-r); zero when a time alone
	// ends the run.
	Iterations int64 `json:"iterations"`
}

// Server is where the load went.
type Server struct {
	// Address is the host and port dialled.
	Address string `json:"address"`
	// Name is what the server calls itself (@@SERVERNAME).
	Name string `json:"name,omitempty"`
	// Product is the server's own one-line description.
	Product string `json:"product,omitempty"`
	// Version is the product version, such as 16.0.4165.4.
	Version string `json:"version,omitempty"`
	// Edition is the server's edition.
	Edition string `json:"edition,omitempty"`
	// Database is the database the connections were in after login.
	Database string `json:"database,omitempty"`
	// Login is the login the connections used; never its password.
	Login string `json:"login,omitempty"`
	// Encryption says what of the first connection was encrypted: "all", "login" (the login
	// packet alone), "strict" (all, as TDS 8 does it) or "none".
	Encryption string `json:"encryption,omitempty"`
	// TLS is the TLS version and cipher suite of it, empty where there was none.
	TLS string `json:"tls,omitempty"`
	// Wire says who sent the requests: "tds" is gostress itself, on connections that
	// go-mssqldb logged in, "go-mssqldb" is that driver.
	Wire string `json:"wire,omitempty"`
	// SetOptions says whose SET options the sessions had: "odbc" or "ssms".
	SetOptions string `json:"set_options,omitempty"`
	// CPUUserS and CPUSystemS are the server process's CPU seconds during the measured part,
	// where they could be read.
	CPUUserS   float64 `json:"cpu_user_s,omitempty"`
	CPUSystemS float64 `json:"cpu_system_s,omitempty"`
}

// Load is what the executor counted and timed. Of batches, always
//
//	attempted = batches + failed_batches + skipped + cancelled + in_doubt
//
// and of iterations the same with the keys that end in _iterations.
type Load struct {
	// Iterations counts iterations of which every batch completed without error.
	Iterations int64 `json:"iterations"`
	// Batches counts batches that completed without error (no message of class 11 or above).
	Batches int64 `json:"batches"`
	// FailedIterations counts iterations in which a batch failed, none being in doubt or cancelled.
	FailedIterations int64 `json:"failed_iterations"`
	// FailedBatches counts batches that the server answered with an error of class 11 or above.
	FailedBatches int64 `json:"failed_batches"`
	// InDoubt counts batches whose outcome is unknown: the query timeout cancelled them, the
	// connection broke while they were in flight, or a cancel was not acknowledged. The server may
	// have committed them.
	InDoubt int64 `json:"in_doubt"`
	// Cancelled counts batches in flight when the run was stopped (an interrupt, or -b), and those that
	// the run itself cancelled; the server acknowledged the cancel.
	Cancelled int64 `json:"cancelled"`
	// Skipped counts batches taken up and not sent, as their connection could not be reopened.
	Skipped int64 `json:"skipped"`
	// Attempted counts batches taken up.
	Attempted int64 `json:"attempted"`

	// PlannedIterations is what was asked for: connections x iterations.
	PlannedIterations int64 `json:"planned_iterations"`
	// AttemptedIterations counts iterations begun.
	AttemptedIterations int64 `json:"attempted_iterations"`
	// InDoubtIterations counts iterations with at least one batch in doubt.
	InDoubtIterations int64 `json:"in_doubt_iterations"`
	// CancelledIterations counts iterations cut short by the stop of the run, or with a batch that the
	// run itself cancelled, none of theirs being in doubt.
	CancelledIterations int64 `json:"cancelled_iterations"`
	// SkippedIterations counts iterations cut short as their connection could not be reopened, no
	// batch of theirs being in doubt.
	SkippedIterations int64 `json:"skipped_iterations"`

	// Rows counts rows received, of every result set.
	Rows int64 `json:"rows"`
	// ErrorsByNumber counts error messages of class 11 and above by number. A batch can raise
	// several, so their sum is not the number of failed batches.
	ErrorsByNumber map[int32]int64 `json:"errors_by_number"`
	// Deadlocks counts error 1205, the deadlock victims; they are in ErrorsByNumber too.
	Deadlocks int64 `json:"deadlocks"`
	// Timeouts counts sendings of batches cancelled by the query timeout (-t). The batches are in
	// InDoubt too, but for those that were sent again.
	Timeouts int64 `json:"timeouts"`
	// OpenTran counts iterations that ended with a transaction still open.
	OpenTran int64 `json:"open_tran"`

	// Retries counts sendings of a batch after its first. The batch counts once, as what came of the
	// last one; each one's errors are in ErrorsByNumber.
	Retries int64 `json:"retries"`
	// Throttled counts answers with a transient error of Azure's, each of which was waited out.
	Throttled int64 `json:"throttled"`
	// RolledBack counts transactions that were open when the run ended their connection.
	RolledBack int64 `json:"rolled_back"`
	// InjectedCancels counts batches that the run itself cancelled (CancelPct) before they ended;
	// they are in Cancelled, or InDoubt when the server did not acknowledge the cancel.
	InjectedCancels int64 `json:"injected_cancels,omitempty"`
	// InjectedDisconnects counts connections that the run itself cut (BatchDisconnectPct).
	InjectedDisconnects int64 `json:"injected_disconnects,omitempty"`
	// Disconnects counts connections that the run itself ended in good order (DisconnectPct, or
	// because its input says so) to open them again.
	Disconnects int64 `json:"disconnects,omitempty"`
	// EndedByErrors counts workers that ended as they had too many errors (MaxThreadErrors).
	EndedByErrors int `json:"ended_by_errors,omitempty"`

	// Connections is the number of connections asked for.
	Connections int `json:"connections"`
	// Connected counts those that logged in.
	Connected int `json:"connected"`
	// ConnectFailed counts those that never did.
	ConnectFailed int `json:"connect_failed"`
	// LateConnections counts those that logged in after the run had begun.
	LateConnections int `json:"late_connections"`
	// LostConnections counts connections that broke during the run.
	LostConnections int64 `json:"lost_connections"`
	// Reconnects counts connections opened again.
	Reconnects int64 `json:"reconnects"`
	// GivenUp counts connections that broke and were not opened again, their remaining iterations
	// not being attempted.
	GivenUp int `json:"given_up"`
	// Abandoned counts workers that did not end when the run did.
	Abandoned int `json:"abandoned"`
	// Interrupted says that the run was stopped from outside before its end.
	Interrupted bool `json:"interrupted"`

	// ElapsedS is the whole: from the first login's beginning to the last worker's end, seconds.
	ElapsedS float64 `json:"elapsed_s"`
	// ConnectS is the part before the run began, in which the connections logged in, seconds.
	ConnectS float64 `json:"connect_s"`
	// RunS is the measured part: from the moment all began, or the warm-up's end, to the last answer, or to
	// the end of the time that was given it, if that is later; seconds.
	RunS float64 `json:"run_s"`
	// BatchesPerS is Batches / RunS.
	BatchesPerS float64 `json:"batches_per_s"`
	// IterationsPerS is Iterations / RunS.
	IterationsPerS float64 `json:"iterations_per_s"`
	// CPUUserS and CPUSystemS are this process's CPU seconds in the measured part.
	CPUUserS   float64 `json:"cpu_user_s"`
	CPUSystemS float64 `json:"cpu_system_s"`
	// ConnectCPUS is this process's CPU seconds, user and system, before the measured part.
	ConnectCPUS float64 `json:"connect_cpu_s"`

	// Loop is "closed" when a connection begins its next iteration when the last one ended, "open"
	// when iterations begin at intended starts.
	Loop string `json:"loop,omitempty"`
	// RatePerS is the iterations a second that an open loop was asked for over its whole length; zero
	// when its stages have rates of their own.
	RatePerS float64 `json:"rate_per_s,omitempty"`
	// Late counts arrivals of an open loop that began more than a millisecond behind their intended
	// start, SkippedLate those that were dropped for it; the latter are in SkippedIterations too.
	Late        int64 `json:"late,omitempty"`
	SkippedLate int64 `json:"skipped_late,omitempty"`
	// EndedBy says why the run ended: "iterations" when all the work was done, "duration",
	// "max_errors", or "early" when something stopped it.
	EndedBy string `json:"ended_by,omitempty"`
	// GeneratorBound says that this process, not the server, could not hold the rate asked for.
	GeneratorBound bool `json:"generator_bound,omitempty"`
	// WarmupS and RampUpS are the parts before the measured one, as asked for, seconds.
	WarmupS float64 `json:"warmup_s,omitempty"`
	RampUpS float64 `json:"ramp_up_s,omitempty"`

	// Latency is of what succeeded: in an open loop from the intended start, else the service time.
	Latency Latency `json:"latency"`
	// Service is the service time of what succeeded, from the actual start, in an open loop.
	Service *Latency `json:"service,omitempty"`
	// FailedLatency is the service time of what failed, timed out, or broke.
	FailedLatency Latency `json:"failed_latency"`
	// ClockResolutionUS is the smallest step of the clock that measured, microseconds.
	ClockResolutionUS float64 `json:"clock_resolution_us"`

	// Statements are the run by statement, Stages by stage.
	Statements []Statement `json:"statements,omitempty"`
	Stages     []Stage     `json:"stages,omitempty"`
	// Health is of this process.
	Health *Health `json:"health,omitempty"`

	// Series is the run over time, in steps of SeriesStepS seconds; SeriesStepS doubles when a
	// long run would otherwise hold too many points.
	Series []Point `json:"series"`
	// SeriesStepS is the length of a point, seconds.
	SeriesStepS float64 `json:"series_step_s"`
}

// Latency holds the two service times that are kept: of a batch, from its sending to the end of
// its answer; and of an iteration, from its first batch's sending to its last one's answer.
type Latency struct {
	Batch     Percentiles `json:"batch"`
	Iteration Percentiles `json:"iteration"`
}

// Percentiles describes a distribution of times in microseconds, precise to three significant
// figures; the largest and the mean are exact. All are zero when Count is.
type Percentiles struct {
	P50US   float64 `json:"p50_us"`
	P90US   float64 `json:"p90_us"`
	P95US   float64 `json:"p95_us"`
	P99US   float64 `json:"p99_us"`
	P99_9US float64 `json:"p99_9_us"`
	MaxUS   float64 `json:"max_us"`
	MeanUS  float64 `json:"mean_us"`
	// Count is the number of times recorded.
	Count int64 `json:"count"`
	// Clamped counts those outside of 100 ns to 1 h, recorded as the nearest of the two.
	Clamped int64 `json:"clamped"`
}

// Point is one step of the time series.
type Point struct {
	// AtS is the end of the step, seconds since the run began.
	AtS float64 `json:"at_s"`
	// Batches counts batches that completed without error in the step.
	Batches int64 `json:"batches"`
	// Failed counts batches that failed, timed out or broke in the step.
	Failed int64 `json:"failed"`
	// BatchesPerS is Batches over the step's length.
	BatchesPerS float64 `json:"batches_per_s"`
	// P50US, P99US and MaxUS describe the batches that succeeded, microseconds. When steps were
	// joined, P50US and P99US are the larger of the two steps'.
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	MaxUS float64 `json:"max_us"`
	// Connections is the number of connections open at the end of the step.
	Connections int `json:"connections"`
}

// Phase is a part of a run.
type Phase string

// The phases of a run, in order. Ending is the time from when no work is begun any more until all
// that was begun has ended.
const (
	PhaseConnecting Phase = "connecting"
	PhaseRampUp     Phase = "ramp-up"
	PhaseWarmup     Phase = "warm-up"
	PhaseMeasuring  Phase = "measuring"
	PhaseCooldown   Phase = "cooldown"
	PhaseEnding     Phase = "ending"
)

// Progress is the state of a run while it goes on.
type Progress struct {
	// Connecting says that the load has not begun.
	Connecting bool
	// Phase is where the run stands, one of the constants; Stage is the name of the stage at work
	// when the measured part has stages.
	Phase Phase
	Stage string
	// Measuring says that it has begun, and that neither warm-up nor cooldown is under way.
	Measuring bool
	// Elapsed is the time since the load began.
	Elapsed time.Duration
	// Done counts iterations ended, good or not; Planned is how many were asked for.
	Done, Planned int64
	// Batches and Failed count batches so far, Failed including those in doubt.
	Batches, Failed int64
	// Errors counts error messages of class 11 and above so far, ErrorsByNumber the same by number.
	// Whoever is told may keep the map.
	Errors         int64
	ErrorsByNumber map[int32]int64
	// Late and SkippedLate count arrivals of an open loop, as Load does.
	Late, SkippedLate int64
	// BatchesPerS is the rate in the last interval.
	BatchesPerS float64
	// P50 and P99 are of batches that succeeded in the last interval, as Load's Latency; zero when
	// there were none.
	P50, P99 time.Duration
	// Connections is the number of connections open now, ConnectionsAsked the number that the phase
	// asks for once all are there.
	Connections, ConnectionsAsked int
	// Left is the time that remains at the mean rate so far; negative when not known.
	Left time.Duration
}

// Demo is the JSON report of the demo: the same workload on both kinds of table.
type Demo struct {
	// Schema is the version of this layout, see the constant Schema.
	Schema int `json:"schema"`
	// Tool and Version name the program.
	Tool    string `json:"tool"`
	Version string `json:"version"`
	// StartedAt is when the program began, UTC.
	StartedAt time.Time `json:"started_at"`
	// Runs holds a run for each kind of table: "inmem" and "ondisk".
	Runs map[string]DemoRun `json:"runs"`
}

// DemoRun is one of the demo's runs.
type DemoRun struct {
	// Orders and Lines count the rows that the run added, as counted in the tables afterwards.
	Orders int64 `json:"orders"`
	Lines  int64 `json:"lines"`
	// Errors counts error messages of class 11 and above.
	Errors int64 `json:"errors"`
	// OrdersPerS is Orders over the measured part's seconds.
	OrdersPerS float64 `json:"orders_per_s"`
	// Verified says that the tables held exactly what the run must have left there.
	Verified bool `json:"verified"`
	// EngineCPUUserS and EngineCPUSystemS are the engine process's CPU seconds during the run.
	EngineCPUUserS   float64 `json:"engine_cpu_user_s"`
	EngineCPUSystemS float64 `json:"engine_cpu_system_s"`

	Load
}
