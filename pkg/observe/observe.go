// Package observe looks at a server while a load runs on it, over one connection of its own that
// is no part of the load.
package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/result"
	"gostress/pkg/threshold"
)

const (
	// Interval is the time between samples.
	Interval = time.Second
	// sampleLimit bounds a sample. It is above the lock timeout, whose error says more.
	sampleLimit = 3 * time.Second
	// reopenAfter is how long a lost connection is left alone.
	reopenAfter = 5 * time.Second
	// numKilled is the error of a session that an administrator ended.
	numKilled = 596
)

// setup makes the session one that yields to everybody else.
const setup = "SET NOCOUNT ON; SET IMPLICIT_TRANSACTIONS OFF; SET LOCK_TIMEOUT 2000; SET DEADLOCK_PRIORITY LOW;"

const factsQuery = "SELECT CONVERT(int, SERVERPROPERTY('EngineEdition')), CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')), DB_NAME();"

// Options say what to look at.
type Options struct {
	// AppName is the program_name of the load's sessions, by which they are known as ours.
	AppName string
	// Conditions are the names of the server's conditions, as package threshold has them.
	Conditions []string
	// Note takes a line for the user; it may be nil. It is called from the goroutine that calls
	// Conditions.
	Note func(string)
}

// Observer asks a server.
type Observer struct {
	connector driver.Connector
	options   Options
	facts     facts
	probes    []probe
	text      string // of all probes

	mu      sync.Mutex
	session driver.Session // nil once it was lost, until it is opened again
	lost    time.Time
	gone    bool // for good
	failing bool
	took    time.Duration
	cost    result.Observer
}

// Open connects and reads each of the conditions once. Its error names the first that cannot be
// read, and what the login lacks. ctx bounds it.
func Open(ctx context.Context, c driver.Connector, o Options) (*Observer, error) {
	ob := &Observer{connector: c, options: o}
	ob.cost = result.Observer{IntervalS: Interval.Seconds(), Conditions: map[string]result.Observed{}}
	if err := ob.open(ctx); err != nil {
		return nil, err
	}
	for _, p := range ob.probes {
		sets, err := query(ctx, ob.session, p.text)
		if err == nil {
			_, _, err = p.value(only(sets))
		}
		if err != nil {
			_ = ob.session.Close()
			return nil, p.explain(ob.facts, err)
		}
	}
	return ob, nil
}

func (o *Observer) open(ctx context.Context) error {
	s, err := o.connector.Connect(ctx)
	if err != nil {
		return err
	}
	sets, err := query(ctx, s, setup+"\n"+factsQuery)
	if err == nil {
		if rows := only(sets); len(rows) == 1 && len(rows[0]) == 3 {
			n, ferr := float(rows[0][0])
			o.facts, err = facts{edition: int64(n), version: str(rows[0][1]), database: str(rows[0][2])}, ferr
		} else {
			err = fmt.Errorf("the server sent %d rows where one with 3 columns is expected", len(rows))
		}
	}
	if err != nil {
		_ = s.Close()
		return fmt.Errorf("cannot set up the connection that looks at the server: %w", err)
	}
	if o.probes == nil {
		if o.probes, err = probes(o.facts, o.options.AppName, o.options.Conditions); err != nil {
			_ = s.Close()
			return err
		}
		for _, p := range o.probes {
			o.text += p.text
		}
	}
	o.session = s
	return nil
}

// Database is the one that log_used and log_send_queue_mb are of.
func (o *Observer) Database() string { return o.facts.database }

// Conditions asks the server once. A condition without a value at this moment is not in what it
// returns. After an error it can be called again: a lost connection is opened anew after a while,
// but not when an administrator ended it.
func (o *Observer) Conditions(ctx context.Context) (threshold.Server, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return nil, errGone
	}
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	if o.session == nil {
		if time.Since(o.lost) < reopenAfter {
			return nil, errLost
		}
		if err := o.open(ctx); err != nil {
			return nil, o.failed(ctx, err)
		}
	}
	began := time.Now()
	sets, err := query(ctx, o.session, o.text)
	o.spent(time.Since(began), err)
	if err != nil {
		return nil, o.failed(ctx, err)
	}
	if len(sets) != len(o.probes) {
		return nil, o.failed(ctx, fmt.Errorf("the server sent %d result sets where %d are expected", len(sets), len(o.probes)))
	}
	server := threshold.Server{}
	var wrong error
	for i, p := range o.probes {
		v, known, err := p.value(sets[i])
		switch {
		case err != nil:
			wrong = errors.Join(wrong, p.explain(o.facts, err))
		case known:
			server[p.condition] = v
			seen, had := o.cost.Conditions[p.condition]
			if !had {
				seen.Max = v
			}
			o.cost.Conditions[p.condition] = result.Observed{Last: v, Max: max(seen.Max, v)}
		}
	}
	if wrong != nil {
		o.tell(ctx, wrong)
		return server, nil
	}
	if o.failing {
		o.failing = false
		o.note("the server's conditions can be read again")
	}
	return server, nil
}

var (
	errLost = errors.New("the connection that looks at the server was lost")
	errGone = errors.New("the connection that looks at the server was ended by an administrator, or the login is refused now")
)

// spent counts a sample.
func (o *Observer) spent(took time.Duration, err error) {
	c := &o.cost
	c.Samples++
	if err != nil {
		c.FailedSamples++
	}
	if took > Interval {
		c.LateSamples++
	}
	o.took += took
	c.MaxUS = max(c.MaxUS, float64(took)/float64(time.Microsecond))
}

// failed gives the connection up when it is of no use after err.
func (o *Observer) failed(ctx context.Context, err error) error {
	var lost *driver.LostError
	var refused *driver.LoginError
	var server driver.ServerError
	switch {
	case errors.As(err, &lost) && lost.Number == numKilled, errors.As(err, &refused) && refused.Refused():
		o.gone = true
		o.drop()
	case errors.As(err, &server), ctx.Err() != nil && o.session != nil && !errors.As(err, &lost):
		// The session can be used again.
	default:
		o.drop()
	}
	o.tell(ctx, err)
	return err
}

// tell notes the first of a row of failures.
func (o *Observer) tell(ctx context.Context, err error) {
	if !o.failing && !errors.Is(ctx.Err(), context.Canceled) {
		o.failing = true
		what := "they are asked for again"
		if o.gone {
			what = "they are not watched any more"
		}
		o.note(fmt.Sprintf("the server's conditions cannot be read, and %s: %v", what, err))
	}
}

func (o *Observer) drop() {
	if o.session != nil {
		_ = o.session.Close()
	}
	o.session, o.lost = nil, time.Now()
}

func (o *Observer) note(text string) {
	if o.options.Note != nil {
		o.options.Note(text)
	}
}

// Result is what was seen until now, and what looking took.
func (o *Observer) Result() result.Observer {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.cost
	out.Conditions = maps.Clone(out.Conditions)
	if out.Samples > 0 {
		out.MeanUS = float64(o.took) / float64(time.Microsecond) / float64(out.Samples)
		out.Share = out.MeanUS / 1e6 / out.IntervalS
	}
	return out
}

// Close ends the connection.
func (o *Observer) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
	s := o.session
	o.session = nil
	if s == nil {
		return nil
	}
	return s.Close()
}
