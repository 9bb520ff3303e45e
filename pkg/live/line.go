package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gostress/pkg/result"
)

// Line renders the state of a run as one line of words.
func Line(p result.Progress) string {
	text := string(p.Phase)
	if p.Stage != "" {
		text += " " + plain(p.Stage)
	}
	connections := count(int64(p.Connections)) + " connections"
	if p.Connections < p.ConnectionsAsked {
		connections = count(int64(p.Connections)) + " of " + count(int64(p.ConnectionsAsked)) + " connections"
	}
	if p.Connecting {
		return text + " | " + connections
	}
	parts := []string{text + " " + clock(p.Elapsed)}
	if p.Left >= 0 {
		parts = append(parts, "left "+clock(p.Left))
	}
	parts = append(parts, rate(p.BatchesPerS)+" batches/s", "p50 "+took(p.P50), "p99 "+took(p.P99), connections, count(p.Batches)+" batches")
	if p.Failed > 0 {
		parts = append(parts, count(p.Failed)+" failed")
	}
	if p.Late > 0 {
		parts = append(parts, count(p.Late)+" late")
	}
	if p.SkippedLate > 0 {
		parts = append(parts, count(p.SkippedLate)+" skipped")
	}
	errors := count(p.Errors) + " errors"
	var numbers []string
	for i, e := range byNumber(p.ErrorsByNumber) {
		if i == 5 {
			numbers = append(numbers, fmt.Sprintf("and %d more", len(p.ErrorsByNumber)-i))
			break
		}
		numbers = append(numbers, fmt.Sprintf("%d: %s", e.number, count(e.times)))
	}
	if len(numbers) > 0 {
		errors += " (" + strings.Join(numbers, ", ") + ")"
	}
	return strings.Join(append(parts, errors), " | ")
}

// Object is a line of --progress json. docs/progress.md tells its keys.
type Object struct {
	At               time.Time       `json:"at"`
	Phase            result.Phase    `json:"phase"`
	Stage            string          `json:"stage,omitempty"`
	ElapsedS         float64         `json:"elapsed_s"`
	LeftS            *float64        `json:"left_s"`
	Iterations       int64           `json:"iterations"`
	Planned          int64           `json:"planned_iterations"`
	Batches          int64           `json:"batches"`
	Failed           int64           `json:"failed_batches"`
	BatchesPerS      float64         `json:"batches_per_s"`
	P50US            float64         `json:"p50_us"`
	P99US            float64         `json:"p99_us"`
	Errors           int64           `json:"errors"`
	ErrorsByNumber   map[int32]int64 `json:"errors_by_number"`
	Connections      int             `json:"connections"`
	ConnectionsAsked int             `json:"connections_asked"`
	Late             int64           `json:"late"`
	SkippedLate      int64           `json:"skipped_late"`
}

// JSON renders the state of a run, as it was at a time, as a JSON object on one line.
func JSON(p result.Progress, at time.Time) ([]byte, error) {
	o := Object{
		At: at.UTC().Truncate(time.Millisecond), Phase: p.Phase, Stage: p.Stage, ElapsedS: p.Elapsed.Seconds(),
		Iterations: p.Done, Planned: p.Planned, Batches: p.Batches, Failed: p.Failed, BatchesPerS: p.BatchesPerS,
		P50US: microseconds(p.P50), P99US: microseconds(p.P99), Errors: p.Errors, ErrorsByNumber: p.ErrorsByNumber,
		Connections: p.Connections, ConnectionsAsked: p.ConnectionsAsked, Late: p.Late, SkippedLate: p.SkippedLate,
	}
	if p.Left >= 0 {
		left := p.Left.Seconds()
		o.LeftS = &left
	}
	if o.ErrorsByNumber == nil {
		o.ErrorsByNumber = map[int32]int64{}
	}
	b, err := json.Marshal(o)
	return append(b, '\n'), err
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
