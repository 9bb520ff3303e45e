package pace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What a run's parts may be at most, so that their sum is a time too.
const (
	MaxFor   = 366 * 24 * time.Hour
	MaxSteps = 100
)

// MaxConnections is the highest number of connections that a step may have.
const MaxConnections = 1 << 20

// Step is a part of a run: so many connections, or a rate, for a time.
type Step struct {
	// Text is the step as it was written.
	Text string
	// Connections is zero in a step with a rate, Rate in one with connections.
	Connections int
	Rate        Rate
	For         time.Duration
}

// ParseSteps reads steps with commas between them: 10:30s,50:1m by connections, or
// 500/s:30s,1000/s:1m by rate, which has its unit always. All are of one kind. An error names the
// step.
func ParseSteps(s string) ([]Step, error) {
	var out []Step
	for i, text := range strings.Split(s, ",") {
		text = strings.TrimSpace(text)
		step, err := parseStep(text)
		if err != nil {
			return nil, fmt.Errorf("stage %d, %q: %w", i+1, text, err)
		}
		if len(out) > 0 && (step.Rate > 0) != (out[0].Rate > 0) {
			return nil, fmt.Errorf("stage %d, %q: either all stages are of connections (50:1m), or all of a rate (500/s:1m)", i+1, text)
		}
		out = append(out, step)
	}
	if len(out) > MaxSteps {
		return nil, fmt.Errorf("%d stages: at most %d are possible", len(out), MaxSteps)
	}
	return out, nil
}

func parseStep(text string) (Step, error) {
	left, right, ok := strings.Cut(text, ":")
	if !ok {
		return Step{}, fmt.Errorf("write CONNECTIONS:TIME or RATE:TIME, as in 50:1m or 500/s:1m")
	}
	s := Step{Text: text}
	var err error
	if strings.Contains(left, "/") {
		s.Rate, err = ParseRate(left)
	} else {
		s.Connections, err = parseConnections(strings.TrimSpace(left))
	}
	if err != nil {
		return Step{}, err
	}
	s.For, err = ParseFor(right)
	return s, err
}

func parseConnections(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no number of connections; a rate has its unit, as in 500/s", s)
	case n < 1 || n > MaxConnections:
		return 0, fmt.Errorf("%d connections: from 1 to %d are possible", n, MaxConnections)
	}
	return n, nil
}

// ParseFor reads how long something lasts: 30s, 5m, 1h30m; above zero and at most MaxFor.
func ParseFor(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration: write a number and a unit, as in 30s, 5m or 1h30m", strings.TrimSpace(s))
	case d <= 0:
		return 0, fmt.Errorf("%q: it must be above zero", strings.TrimSpace(s))
	case d > MaxFor:
		return 0, fmt.Errorf("%q: at most %v are possible", strings.TrimSpace(s), MaxFor)
	}
	return d, nil
}
