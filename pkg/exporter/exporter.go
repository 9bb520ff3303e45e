// Package exporter offers a run's figures to Prometheus while it goes on.
package exporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gostress/pkg/latency"
	"gostress/pkg/result"
)

// Exporter serves /metrics. Nothing is observed for a call: a scrape reads what was merged last.
type Exporter struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	state    state
}

// Listen begins to serve at an address such as 127.0.0.1:9464. Info names the run.
func Listen(address string, info Info) (*Exporter, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics at %s: %w", address, err)
	}
	e := &Exporter{listener: l, served: make(chan struct{}), state: state{info: info, statements: map[string]*statement{}}}
	registry := prometheus.NewRegistry()
	if err := errors.Join(
		registry.Register(&e.state),
		registry.Register(collectors.NewGoCollector()),
		registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	); err != nil {
		return nil, errors.Join(fmt.Errorf("serve metrics: %w", err), l.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	go func() {
		defer close(e.served)
		_ = e.server.Serve(l) // it ends by Close alone
	}()
	return e, nil
}

// Address is where it is served.
func (e *Exporter) Address() string { return e.listener.Addr().String() }

// Interval adds what was recorded in a part of the run.
func (e *Exporter) Interval(i latency.Interval) { e.state.add(i) }

// Load replaces the counts.
func (e *Exporter) Load(l result.Load) { e.state.set(l) }

// Close ends the service; a scrape under way has a second to end.
func (e *Exporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.server.Close()
	}
	<-e.served
	return err
}

// Info names a run.
type Info struct{ Version, RunID, Loop string }

// statement is what was recorded of a statement so far.
type statement struct {
	latency, service *latency.Histogram
	failed           map[result.Class]*latency.Histogram
}

// state is a prometheus.Collector of the run so far.
type state struct {
	info Info

	mu         sync.Mutex
	statements map[string]*statement
	load       result.Load
}

func (s *state) add(i latency.Interval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range i.Statements {
		st := s.statements[in.Name]
		if st == nil {
			st = &statement{latency: latency.New(), failed: map[result.Class]*latency.Histogram{}}
			s.statements[in.Name] = st
		}
		if in.Latency != nil {
			st.latency.Merge(in.Latency)
		}
		if in.Service != nil {
			if st.service == nil {
				st.service = latency.New()
			}
			st.service.Merge(in.Service)
		}
		for class, h := range in.Failed {
			if st.failed[class] == nil {
				st.failed[class] = latency.New()
			}
			st.failed[class].Merge(h)
		}
	}
}

func (s *state) set(l result.Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = l
}

// described are the metrics, named as Prometheus's conventions have it: base units, and _total for
// what only grows.
type described struct {
	info, connections, batches, errors, rows, lost, latency, service, failed *prometheus.Desc
}

func describe() described {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("gostress_"+name, help, labels, nil)
	}
	return described{
		info:        d("run_info", "The run; its value is 1.", "version", "run_id", "loop"),
		connections: d("connections", "Connections open now."),
		batches:     d("batches_total", "Batches by what became of them: good, failed, in_doubt, cancelled, skipped.", "statement", "outcome"),
		errors:      d("errors_total", "Error messages of class 11 and above, by the server's number.", "number"),
		rows:        d("rows_total", "Rows received."),
		lost:        d("lost_connections_total", "Connections that broke."),
		latency:     d("batch_duration_seconds", "Batches that succeeded: in an open loop from the intended start, else the service time.", "statement"),
		service:     d("batch_service_seconds", "Service time of batches that succeeded, in an open loop.", "statement"),
		failed:      d("failed_batch_duration_seconds", "Service time of batches that did not succeed.", "statement", "class"),
	}
}

// Describe implements prometheus.Collector.
func (s *state) Describe(ch chan<- *prometheus.Desc) {
	d := describe()
	for _, desc := range []*prometheus.Desc{d.info, d.connections, d.batches, d.errors, d.rows, d.lost, d.latency, d.service, d.failed} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (s *state) Collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := describe()
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	send(d.info, prometheus.GaugeValue, 1, s.info.Version, s.info.RunID, s.info.Loop)
	open := 0
	if n := len(s.load.Series); n > 0 {
		open = s.load.Series[n-1].Connections
	}
	send(d.connections, prometheus.GaugeValue, float64(open))
	send(d.rows, prometheus.CounterValue, float64(s.load.Rows))
	send(d.lost, prometheus.CounterValue, float64(s.load.LostConnections))
	for number, n := range s.load.ErrorsByNumber {
		send(d.errors, prometheus.CounterValue, float64(n), strconv.Itoa(int(number)))
	}
	for _, st := range s.load.Statements {
		for outcome, n := range map[string]int64{"good": st.Batches, "failed": st.FailedBatches, "in_doubt": st.InDoubt, "cancelled": st.Cancelled, "skipped": st.Skipped} {
			send(d.batches, prometheus.CounterValue, float64(n), label(st.Name), outcome)
		}
	}
	for name, st := range s.statements {
		ch <- histogram(d.latency, st.latency, label(name))
		if st.service != nil {
			ch <- histogram(d.service, st.service, label(name))
		}
		for class, h := range st.failed {
			ch <- histogram(d.failed, h, label(name), string(class))
		}
	}
}
