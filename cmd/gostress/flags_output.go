package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/exporter"
	"gostress/pkg/latency"
	"gostress/pkg/report"
	"gostress/pkg/result"
)

// outputFlags say where the result goes besides the summary.
type outputFlags struct {
	JSON       string `name:"json"`
	CSV        string `name:"csv"`
	HGRM       string `name:"hgrm"`
	HLog       string `name:"hlog"`
	JUnit      string `name:"junit"`
	Prometheus string
}

// outputFile is a switch that names a file.
type outputFile struct {
	name string
	path *string
}

func (f *outputFlags) files() []outputFile {
	return []outputFile{{"json", &f.JSON}, {"csv", &f.CSV}, {"hgrm", &f.HGRM}, {"hlog", &f.HLog}, {"junit", &f.JUnit}}
}

func (f *outputFlags) check() error {
	seen := map[string]string{}
	for _, file := range f.files() {
		switch {
		case *file.path == "":
			continue
		case *file.path == "-":
			return usagef("--%s=-: name a file", file.name)
		}
		path := filepath.Clean(*file.path)
		if other := seen[path]; other != "" {
			return usagef("--%s and --%s name the same file, %s", other, file.name, *file.path)
		}
		seen[path] = file.name
	}
	if f.Prometheus != "" {
		if _, _, err := net.SplitHostPort(f.Prometheus); err != nil {
			return usagef("--prometheus=%s: write ADDRESS:PORT, as in 127.0.0.1:9464", f.Prometheus)
		}
	}
	return nil
}

// numbered are the files of a run of a series, from 1: out.csv becomes out-1.csv. The
// JSON report is one for all of them.
func (f outputFlags) numbered(run int) outputFlags {
	for _, file := range f.files() {
		if *file.path == "" || file.name == "json" {
			continue
		}
		ext := filepath.Ext(*file.path)
		*file.path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(*file.path, ext), run, ext)
	}
	return f
}

// writable finds out before a long run whether its files can be written.
func (f outputFlags) writable() error {
	for _, file := range f.files() {
		if *file.path == "" {
			continue
		}
		if err := report.Check(*file.path); err != nil {
			return err
		}
	}
	return nil
}

// recording takes what a run records while it goes on to where the flags say.
type recording struct {
	files    outputFlags
	whole    *latency.Histogram // of all statements, for --hgrm
	log      *report.HistogramLog
	err      error // of opening it
	exporter *exporter.Exporter
}

// record begins to serve metrics, if that is asked for.
func (f outputFlags) record(info exporter.Info) (*recording, error) {
	rec := &recording{files: f}
	if f.HGRM != "" {
		rec.whole = latency.New()
	}
	if f.Prometheus != "" {
		var err error
		if rec.exporter, err = exporter.Listen(f.Prometheus, info); err != nil {
			return nil, fmt.Errorf("--prometheus: %w", err)
		}
	}
	return rec, nil
}

// fill has the plan tell the recording, where there is something to record.
func (rec *recording) fill(p *driver.Plan) {
	if rec.whole != nil || rec.files.HLog != "" || rec.exporter != nil {
		p.Interval = rec.interval
	}
}

func (rec *recording) interval(i latency.Interval) {
	if rec.whole != nil {
		for _, s := range i.Statements {
			rec.whole.Merge(s.Latency)
		}
	}
	if rec.files.HLog != "" {
		if rec.log == nil && rec.err == nil {
			rec.begin(i.StartedAt.Add(-i.Start))
		}
		if rec.log != nil {
			rec.log.Write(i)
		}
	}
	if rec.exporter != nil {
		rec.exporter.Interval(i)
	}
}

func (rec *recording) begin(at time.Time) {
	rec.log, rec.err = report.NewHistogramLog(rec.files.HLog, at, "gostress "+version)
}

// end writes the files of a run that has ended, and stops serving.
func (rec *recording) end(run result.Run) error {
	f := rec.files
	var errs []error
	if f.CSV != "" {
		errs = append(errs, report.WriteCSV(f.CSV, &run.Load))
	}
	if rec.whole != nil {
		errs = append(errs, report.WriteHGRM(f.HGRM, rec.whole))
	}
	if f.HLog != "" {
		if rec.log == nil && rec.err == nil {
			rec.begin(run.StartedAt)
		}
		if errs = append(errs, rec.err); rec.log != nil {
			errs = append(errs, rec.log.Close())
		}
	}
	if f.JUnit != "" {
		errs = append(errs, report.WriteJUnit(f.JUnit, run))
	}
	if rec.exporter != nil {
		errs = append(errs, rec.exporter.Close())
	}
	return errors.Join(errs...)
}
