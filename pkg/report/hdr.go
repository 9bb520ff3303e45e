package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// ticks is the number of lines of a percentile spectrum for each halving of the distance to 100 per
// cent, the other HdrHistogram tools' own.
const ticks = 5

// WriteHGRM writes a distribution as HdrHistogram's percentile spectrum (.hgrm), values in
// milliseconds, to a file as Create makes it.
func WriteHGRM(path string, h *latency.Histogram) error {
	return write(path, func(w io.Writer) error {
		_, err := h.HDR().PercentilesPrint(w, ticks, float64(time.Millisecond))
		return err
	})
}

// HistogramLog is an HdrHistogram interval log, format 1.3, while it is written: a line for each
// statement and interval, tagged with the statement's name. In an open loop the tag is of times from
// the intended start, and NAME.service of those from the actual one; NAME.failed is what did not
// succeed. Values are nanoseconds, Interval_Max milliseconds, as in HdrHistogram's own tools.
type HistogramLog struct {
	file *File
	buf  *bufio.Writer
	log  *hdr.HistogramLogWriter
	err  error
}

// NewHistogramLog begins the log of a run whose measured part began at start.
func NewHistogramLog(path string, start time.Time, tool string) (*HistogramLog, error) {
	f, err := Create(path)
	if err != nil {
		return nil, err
	}
	l := &HistogramLog{file: f, buf: bufio.NewWriter(f)}
	l.log = hdr.NewHistogramLogWriter(l.buf)
	// The library writes whole seconds; tools place intervals by the fraction too.
	base := fmt.Sprintf("%.3f (seconds since epoch)", float64(start.UnixMilli())/1000)
	l.err = errors.Join(
		l.log.OutputComment("["+tool+"]"),
		l.log.OutputLogFormatVersion(),
		l.log.OutputComment("[StartTime: "+base+", "+start.UTC().Format(time.RFC3339)+"]"),
		l.log.OutputComment("[BaseTime: "+base+"]"),
		l.log.OutputLegend())
	l.log.SetBaseTime(start.UnixMilli())
	return l, nil
}

// Write adds an interval. Close tells the first error.
func (l *HistogramLog) Write(i latency.Interval) {
	for _, s := range i.Statements {
		l.line(i, s.Name, s.Latency)
		l.line(i, s.Name+".service", s.Service)
		for _, class := range result.Classes() {
			if h := s.Failed[class]; h != nil {
				l.line(i, s.Name+".failed."+string(class), h)
			}
		}
	}
}

func (l *HistogramLog) line(i latency.Interval, tag string, h *latency.Histogram) {
	if h == nil || l.err != nil || h.Count() == 0 {
		return
	}
	out := h.HDR()
	out.SetTag(logTag(tag))
	out.SetStartTimeMs(i.StartedAt.UnixMilli())
	out.SetEndTimeMs(i.StartedAt.Add(i.End - i.Start).UnixMilli())
	l.err = l.log.OutputIntervalHistogram(out)
}

// Close puts the log in its place.
func (l *HistogramLog) Close() error {
	if l.err == nil {
		l.err = l.buf.Flush()
	}
	if l.err != nil {
		return errors.Join(l.err, l.file.Discard())
	}
	return l.file.Keep()
}

// logTag is a name without what ends a tag.
func logTag(name string) string {
	return strings.Map(func(r rune) rune {
		if slices.Contains([]rune{',', ' ', '\t', '\r', '\n'}, r) {
			return '_'
		}
		return r
	}, name)
}
