package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"gostress/pkg/result"
)

// WriteCSV writes the time series of a run to a file as Create makes it: RFC 4180, a line of names,
// which are the keys of the JSON report, and a line for each point. Numbers have a decimal point.
func WriteCSV(path string, l *result.Load) error {
	return write(path, func(w io.Writer) error {
		c := csv.NewWriter(w)
		_ = c.Write([]string{"at_s", "batches", "failed", "batches_per_s", "p50_us", "p99_us", "max_us", "connections"})
		for _, p := range l.Series {
			_ = c.Write([]string{decimal(p.AtS), strconv.FormatInt(p.Batches, 10), strconv.FormatInt(p.Failed, 10), decimal(p.BatchesPerS),
				decimal(p.P50US), decimal(p.P99US), decimal(p.MaxUS), strconv.Itoa(p.Connections)})
		}
		c.Flush()
		return c.Error()
	})
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
