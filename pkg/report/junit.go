package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"gostress/pkg/result"
)

// The elements of a JUnit report that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		At       string      `xml:"timestamp,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes a run's thresholds as a JUnit test suite, a test case for each, to a file as
// Create makes it. A run whose verdict is void has errors in place of verdicts, and one that a
// condition ended has that as a failure.
func WriteJUnit(path string, run result.Run) error {
	seconds := strconv.FormatFloat(run.ElapsedS, 'f', 3, 64)
	suite := junitSuite{Name: run.Tool, Time: seconds, At: run.StartedAt.UTC().Format("2006-01-02T15:04:05")}
	for _, t := range run.Thresholds {
		c := junitCase{Class: run.Tool + ".threshold", Name: t.Expr, Time: seconds}
		switch {
		case run.Verdict == result.Void:
			c.Error = &junitMessage{"the generator could not hold the rate asked for, so that the result says nothing of the server"}
		case !t.OK:
			c.Failure = &junitMessage{found(t)}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if run.Aborted != "" {
		suite.Cases = append(suite.Cases, junitCase{Class: run.Tool + ".abort-on", Name: run.Aborted, Time: seconds,
			Failure: &junitMessage{"the condition came true and ended the run"}})
	}
	for _, c := range suite.Cases {
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
	}
	return write(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, xml.Header); err != nil {
			return err
		}
		e := xml.NewEncoder(w)
		e.Indent("", "  ")
		if err := e.Encode(suite); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	})
}

// found says what a threshold found.
func found(t result.Threshold) string {
	if t.Note != "" {
		return t.Note
	}
	return "found " + amount(t.Value, t.Unit)
}

// amount is a value of a threshold in a reader's units.
func amount(v float64, unit string) string {
	switch {
	case unit == "us" && v >= 1e6:
		return fmt.Sprintf("%.3f s", v/1e6)
	case unit == "us" && v >= 1e3:
		return fmt.Sprintf("%.3f ms", v/1e3)
	case unit == "us":
		return fmt.Sprintf("%.1f us", v)
	case unit == "%":
		return strconv.FormatFloat(v, 'g', 4, 64) + " %"
	case unit == "/s":
		return fmt.Sprintf("%.1f/s", v)
	case unit != "":
		return strconv.FormatFloat(v, 'f', -1, 64) + " " + unit
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// thresholds writes the table of the conditions that were set.
func thresholds(w io.Writer, run result.Run) {
	if run.Aborted != "" {
		fmt.Fprintf(w, "  %-12s the condition %s came true and ended the run\n", "Aborted", run.Aborted)
	}
	if len(run.Thresholds) > 0 {
		width := 0
		for _, t := range run.Thresholds {
			width = max(width, len(t.Expr))
		}
		for i, t := range run.Thresholds {
			name, verdict := "", "passed"
			if i == 0 {
				name = "Thresholds"
			}
			if !t.OK {
				verdict = "FAILED"
			}
			fmt.Fprintf(w, "  %-12s %-*s  %s  %s\n", name, width, t.Expr, verdict, found(t))
		}
	}
	switch run.Verdict {
	case result.Void:
		fmt.Fprintf(w, "  %-12s void: the generator, not the server, could not hold the rate asked for\n", "Verdict")
	case result.Passed, result.Failed:
		fmt.Fprintf(w, "  %-12s %s\n", "Verdict", run.Verdict)
	}
}
