// Package threshold holds results against conditions: p99<20ms, errors<0.1%, rate>=5000/s,
// errors[1205]==0, insert.p95<5ms, blocked_others>0.
package threshold

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gostress/pkg/pace"
)

// Condition is a metric held against a limit.
type Condition struct {
	expr      string
	statement string // "" for the whole run
	part      part
	metric    metric
	number    int32 // of errors[N]; 0 for all
	op        string
	limit     float64 // in the metric's unit; a share for per cents
	share     bool
}

// part is which of the distributions a metric is of.
type part uint8

const (
	batch part = iota
	service
	iteration
	startError
)

// String is the condition as it was given.
func (c Condition) String() string { return c.expr }

// OnServer says that the condition is one of the server's, for which a Server has to be asked.
func (c Condition) OnServer() bool { return c.metric.kind == ofServer }

// Statement is the name of the statement that the condition is on; "" for the whole run.
func (c Condition) Statement() string { return c.statement }

// Name is the metric's name without its statement.
func (c Condition) Name() string { return c.metric.name }

// Parse reads a condition: a metric, one of < <= > >= == !=, and a limit with its unit. Before a
// metric may stand a statement's name and a dot (in double quotes when it holds a character of
// another meaning), and one of "service", "iteration", "start_error". Its error is for the user and
// names the condition.
func Parse(expr string) (Condition, error) {
	c := Condition{expr: strings.TrimSpace(expr)}
	bad := func(format string, args ...any) (Condition, error) {
		return Condition{}, fmt.Errorf("threshold %q: %s", expr, fmt.Sprintf(format, args...))
	}
	left, op, right, err := cut(c.expr)
	if err != nil {
		return bad("%v", err)
	}
	c.op = op
	words, err := path(left)
	if err != nil {
		return bad("%v", err)
	}
	name := words[len(words)-1]
	words = words[:len(words)-1]
	// p99.9 has a dot of its own.
	if len(words) > 0 && isPercentile(words[len(words)-1]+"."+name) {
		name = words[len(words)-1] + "." + name
		words = words[:len(words)-1]
	}
	if base, index, ok := strings.Cut(name, "["); ok {
		digits, closed := strings.CutSuffix(index, "]")
		n, err := strconv.ParseInt(digits, 10, 32)
		if base != "errors" || !closed || err != nil || n < 1 {
			return bad("write errors[NUMBER], as in errors[1205]==0")
		}
		name, c.number = base, int32(n)
	}
	i := slices.IndexFunc(metrics(), func(m metric) bool { return m.name == name })
	if i < 0 {
		return bad("%q is no metric: there are %s", name, strings.Join(names(), ", "))
	}
	c.metric = metrics()[i]
	if n := len(words); n > 0 {
		p, ok := map[string]part{"service": service, "iteration": iteration, "start_error": startError}[words[n-1]]
		if ok {
			c.part, words = p, words[:n-1]
		}
	}
	c.statement = strings.Join(words, ".")
	switch {
	case c.statement != "" && (c.metric.kind == ofServer || c.metric.whole || c.number != 0 || c.part == iteration || c.part == startError):
		return bad("it is known of the whole run alone, not of the statement %s", c.statement)
	case c.part != batch && c.metric.kind != ofTime && (c.part != iteration || c.metric.name != "rate"):
		return bad("%s has no %s of its own", name, map[part]string{service: "service time", iteration: "iteration", startError: "start error"}[c.part])
	}
	if c.limit, c.share, err = c.metric.limit(strings.TrimSpace(right)); err != nil {
		return bad("%v", err)
	}
	return c, nil
}

// cut finds the operator outside of quotes.
func cut(s string) (left, op, right string, err error) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("<>=!", s[i]) >= 0:
			op = s[i : i+1]
			if i+1 < len(s) && s[i+1] == '=' {
				op = s[i : i+2]
			}
			if op == "=" || op == "!" {
				return "", "", "", fmt.Errorf("%q is no comparison: write <, <=, >, >=, == or !=", op)
			}
			return s[:i], op, s[i+len(op):], nil
		}
	}
	return "", "", "", fmt.Errorf("the comparison is missing: write <, <=, >, >=, == or !=, as in p99<20ms")
}

// path splits a metric at its dots, outside of quotes.
func path(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted := false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '.' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	if quoted {
		return nil, fmt.Errorf("a double quote is missing")
	}
	words = append(words, word.String())
	if slices.Contains(words, "") {
		return nil, fmt.Errorf("a name is missing before the comparison")
	}
	return words, nil
}

// limit reads what stands behind the operator.
func (m metric) limit(s string) (value float64, share bool, err error) {
	if s == "" {
		return 0, false, fmt.Errorf("the limit is missing: write %s", m.example())
	}
	switch m.kind {
	case ofTime:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, false, fmt.Errorf("%q is no time: write %s", s, m.example())
		}
		return float64(d) / float64(time.Microsecond), false, nil
	case ofRate:
		if n, err := strconv.ParseFloat(s, 64); err == nil && n == 0 {
			return 0, false, nil
		}
		r, err := pace.ParseRate(s)
		if err != nil {
			return 0, false, fmt.Errorf("%q is no rate: write %s", s, m.example())
		}
		return float64(r), false, nil
	}
	number, per := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0:
		return 0, false, fmt.Errorf("%q is no number: write %s", s, m.example())
	case per && !m.share:
		return 0, false, fmt.Errorf("%s has no per cents: write %s", m.name, m.example())
	case m.percent:
		return n, false, nil // known in per cent, with the sign or without
	case per:
		return n / 100, true, nil
	}
	return n, false, nil
}
