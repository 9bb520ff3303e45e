package scenario

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// Mix is a scenario file: statements with weights, what runs around them, and how.
type Mix struct {
	// Path is the file, Name the scenario's own name, or the file's.
	Path, Name string
	// Switches are what it says of target, load, parameters, thresholds and output, as switches of
	// the command line in their long form.
	Switches []Switch
	// Edit, if set, changes each text before it is split into batches, those of files too.
	Edit func(text string) (string, error)

	file mixFile
	at   located
}

// LoadMix reads and checks a scenario file. Its errors name the file, the line and the column.
func LoadMix(path string) (Mix, error) {
	content, err := readFile(path)
	if err != nil {
		return Mix{}, err
	}
	return ParseMix(path, content)
}

// ParseMix is LoadMix of a file's content.
func ParseMix(path string, content []byte) (Mix, error) {
	file, at, err := readMix(path, content)
	if err != nil {
		return Mix{}, err
	}
	if err := file.check(at); err != nil {
		return Mix{}, err
	}
	m := Mix{Path: path, Name: file.Name, Switches: at.switches(reflect.ValueOf(file), "$"), file: file, at: at}
	if m.Name == "" {
		m.Name = "scenario"
	}
	for _, hooks := range []struct {
		name string
		h    mixHooks
	}{{"setup", file.Setup}, {"teardown", file.Teardown}} {
		for _, list := range []struct {
			name  string
			texts []string
		}{{"once", hooks.h.Once}, {"connection", hooks.h.Connection}, {"iteration", hooks.h.Iteration}} {
			if _, err := m.batches(hooks.name+"."+list.name, list.texts); err != nil {
				return Mix{}, err
			}
		}
	}
	for i, s := range file.Statements {
		if s.SQL != "" {
			if _, err := m.batch(fmt.Sprintf("$.statements[%d].sql", i), s.SQL); err != nil {
				return Mix{}, err
			}
		}
	}
	return m, nil
}

// batch is a text of the file as the batches between its GO lines.
func (m *Mix) batch(path, text string) (*batches, error) {
	line := m.at.textLine(path)
	var err error
	if m.Edit != nil {
		text, err = m.Edit(text)
	}
	var s script.Script
	if err == nil {
		s, err = script.FromText(text)
	}
	if err != nil {
		var se *script.Error
		if errors.As(err, &se) {
			se.Path = m.Path
			if se.Line > 0 {
				se.Line += line - 1
			} else {
				se.Line = line
			}
		}
		return nil, err
	}
	p := &batches{}
	for i, b := range s.Batches {
		r, err := request(b.Text, driver.Source{File: fullPath(m.Path), Line: line + b.Line - 1, Batch: i + 1})
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, step{request: r, count: b.Count})
	}
	return p, nil
}

// batches are the texts of a list.
func (m *Mix) batches(where string, texts []string) ([]step, error) {
	var out []step
	for i, text := range texts {
		b, err := m.batch(fmt.Sprintf("$.%s[%d]", where, i), text)
		if err != nil {
			return nil, err
		}
		out = append(out, b.steps...)
	}
	return out, nil
}

// Units are the scenario's units: one of all statements that share connections, and one of each that
// has its own. Open gives a session to read what a workload needs before the run; it is called for
// statements that run one alone, and may be nil when there are none. Bind gives the unit of a statement,
// by its index, its parameters; it may be nil. The same seed gives the same turns.
func (m *Mix) Units(ctx context.Context, seed uint64, open func(context.Context, Run) (driver.Session, error), bind func(int, driver.Unit) (driver.Unit, error)) ([]driver.Unit, error) {
	before, err := m.batches("setup.iteration", m.file.Setup.Iteration)
	if err != nil {
		return nil, err
	}
	after, err := m.batches("teardown.iteration", m.file.Teardown.Iteration)
	if err != nil {
		return nil, err
	}
	shared := &mixture{seed: seed}
	sharedUnit := driver.Unit{Name: m.Name, Program: shared}
	var own []driver.Unit
	for i := range m.file.Statements {
		s := &m.file.Statements[i]
		u, err := m.unit(ctx, i, seed, open)
		if err != nil {
			return nil, err
		}
		statement := 0
		if !s.Own {
			statement = len(sharedUnit.Statements)
		}
		label(u.Program, statement)
		if bind != nil && s.Workload == "" {
			if u, err = bind(i, u); err != nil {
				return nil, err
			}
		}
		if s.Own {
			p := &mixture{seed: seed, entries: []entry{{program: u.Program, upTo: 1}}}
			own = append(own, p.around(driver.Unit{Name: s.Name, Program: p, Statements: []string{s.Name}, Connections: int(s.Connections)}, before, after))
			continue
		}
		sum := 0.0
		if n := len(shared.entries); n > 0 {
			sum = shared.entries[n-1].upTo
		}
		shared.entries = append(shared.entries, entry{program: u.Program, upTo: sum + s.Weight, statement: statement})
		sharedUnit.Statements = append(sharedUnit.Statements, s.Name)
	}
	if len(shared.entries) == 0 {
		return own, nil
	}
	return append([]driver.Unit{shared.around(sharedUnit, before, after)}, own...), nil
}

// label puts a script's requests under a statement's name.
func label(p driver.Program, statement int) {
	if b, ok := p.(*batches); ok {
		for _, s := range b.steps {
			s.request.Statement = statement
		}
	}
}

// unit is a statement's own unit.
func (m *Mix) unit(ctx context.Context, i int, seed uint64, open func(context.Context, Run) (driver.Session, error)) (driver.Unit, error) {
	s := m.file.Statements[i]
	switch {
	case s.SQL != "":
		p, err := m.batch(fmt.Sprintf("$.statements[%d].sql", i), s.SQL)
		return driver.Unit{Name: s.Name, Program: p}, err
	case s.File != "":
		loaded, err := script.CodePage(0).LoadEdited(s.File, m.Edit)
		if err != nil {
			return driver.Unit{}, err
		}
		return FromScript(ctx, loaded)
	}
	run, err := FindRun(s.Workload)
	if err != nil {
		return driver.Unit{}, m.at.at(fmt.Sprintf("$.statements[%d].workload", i), "%v", err)
	}
	if open == nil {
		return driver.Unit{}, fmt.Errorf("there is no session to read what %s needs", run)
	}
	session, err := open(ctx, run)
	if err != nil {
		return driver.Unit{}, err
	}
	defer session.Close()
	return run.Unit(ctx, session, RunOptions{Mode: Mode(s.Mode), Seed: seed})
}

// Check is what Units finds wrong without a session: files that cannot be read, workloads that there
// are none of, parameters that do not fit.
func (m *Mix) Check(ctx context.Context, bind func(int, driver.Unit) (driver.Unit, error)) error {
	for i, s := range m.file.Statements {
		if s.Workload != "" {
			if _, err := FindRun(s.Workload); err != nil {
				return m.at.at(fmt.Sprintf("$.statements[%d].workload", i), "%v", err)
			}
			continue
		}
		u, err := m.unit(ctx, i, 0, nil)
		if err == nil && bind != nil {
			_, err = bind(i, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Statements is the number of statements.
func (m *Mix) Statements() int { return len(m.file.Statements) }

// Names are those of the statements, as reports and thresholds have them.
func (m *Mix) Names() []string {
	var out []string
	for _, s := range m.file.Statements {
		out = append(out, s.Name)
	}
	for _, hooks := range []struct {
		texts []string
		name  string
	}{{m.file.Setup.Iteration, iterationSetup}, {m.file.Teardown.Iteration, iterationTeardown}} {
		if len(hooks.texts) > 0 {
			out = append(out, hooks.name)
		}
	}
	return out
}

// Params are a statement's own parameters as switches, in place of the file's; none are the file's.
func (m *Mix) Params(statement int) []Switch {
	return m.at.switches(reflect.ValueOf(m.file.Statements[statement].Params), fmt.Sprintf("$.statements[%d].params", statement))
}

// Own finds a statement with connections of its own, and one with a number of them; errors are those
// that say that this cannot be here.
func (m *Mix) Own(number bool) (refuse func(why string) error, found bool) {
	for i, s := range m.file.Statements {
		key := "own_connections"
		if s.Connections > 0 {
			key = "connections"
		}
		if s.Own && (s.Connections > 0 || !number) {
			return func(why string) error { return m.at.at(fmt.Sprintf("$.statements[%d].%s", i, key), "%s", why) }, true
		}
	}
	return nil, false
}

// Workloads says whether a statement runs a bundled workload.
func (m *Mix) Workloads() bool {
	for _, s := range m.file.Statements {
		if s.Workload != "" {
			return true
		}
	}
	return false
}

// Setup and Teardown run what the file has to run once, before and after the load. Their errors name
// the file and the line.
func (m *Mix) Setup(ctx context.Context, s driver.Session) error {
	return m.once(ctx, s, "setup.once", m.file.Setup.Once)
}

func (m *Mix) Teardown(ctx context.Context, s driver.Session) error {
	return m.once(ctx, s, "teardown.once", m.file.Teardown.Once)
}

// Once says whether there is anything to run once.
func (m *Mix) Once() (setup, teardown bool) {
	return len(m.file.Setup.Once) > 0, len(m.file.Teardown.Once) > 0
}

func (m *Mix) once(ctx context.Context, s driver.Session, where string, texts []string) error {
	steps, err := m.batches(where, texts)
	if err != nil {
		return err
	}
	return runSteps(ctx, s, steps)
}

// runSteps runs batches that are no part of the load.
func runSteps(ctx context.Context, s driver.Session, steps []step) error {
	for _, st := range steps {
		plain := *st.request
		plain.Plain = true
		for range st.count {
			out, err := s.Do(ctx, &plain, nil)
			if err != nil {
				return fmt.Errorf("%s, line %d: %w", plain.Source.File, plain.Source.Line, err)
			}
			if len(out.Errors) > 0 {
				e := out.Errors[0]
				line := plain.Source.Line
				if e.Proc == "" && e.Line > 0 {
					line += int(e.Line) - 1
				}
				return &ScriptError{File: plain.Source.File, Line: line, Server: e}
			}
		}
	}
	return nil
}

// Connector runs the file's batches for each connection, after its login and before its end. They are
// no part of the load, and are run again when a connection is opened again.
func (m *Mix) Connector(inner driver.Connector) (driver.Connector, error) {
	before, err := m.batches("setup.connection", m.file.Setup.Connection)
	if err != nil {
		return nil, err
	}
	after, err := m.batches("teardown.connection", m.file.Teardown.Connection)
	if err != nil || len(before)+len(after) == 0 {
		return inner, err
	}
	return prepared{inner, before, after}, nil
}

type prepared struct {
	inner         driver.Connector
	before, after []step
}

func (p prepared) Connect(ctx context.Context) (driver.Session, error) {
	s, err := p.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := runSteps(ctx, s, p.before); err != nil {
		_ = s.Close()
		return nil, &driver.ConnectError{Err: fmt.Errorf("the setup of a connection failed: %w", err)}
	}
	return &preparedSession{Session: s, after: p.after}, nil
}

// partingTime is how long the batches at a connection's end may take.
const partingTime = 5 * time.Second

// preparedSession runs batches before it ends, unless a request is in flight: then it is cut.
type preparedSession struct {
	driver.Session
	after  []step
	busy   sync.Mutex
	closed atomic.Bool
	broken bool
}

func (s *preparedSession) Do(ctx context.Context, r *driver.Request, sink driver.Sink) (driver.Outcome, error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	out, err := s.Session.Do(ctx, r, sink)
	var lost *driver.LostError
	s.broken = s.broken || errors.As(err, &lost)
	return out, err
}

func (s *preparedSession) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if len(s.after) > 0 && s.busy.TryLock() {
		if !s.broken {
			ctx, cancel := context.WithTimeout(context.Background(), partingTime)
			// What fails here has no place to be told any more, and the connection ends anyway.
			_ = runSteps(ctx, s.Session, s.after)
			cancel()
		}
		s.busy.Unlock()
	}
	return s.Session.Close()
}

// Describe is the session's own.
func (s *preparedSession) Describe() string {
	if d, ok := s.Session.(interface{ Describe() string }); ok {
		return d.Describe()
	}
	return "logged in"
}

// mixture is a program that runs one of its entries in each iteration, drawn by weight from the seed,
// the worker and the iteration alone.
type mixture struct {
	seed          uint64
	entries       []entry
	before, after []step
}

type entry struct {
	program   driver.Program
	upTo      float64 // the sum of the weights so far
	statement int
}

// Names of what runs around each iteration.
const (
	iterationSetup    = "iteration setup"
	iterationTeardown = "iteration teardown"
)

// around gives a unit what runs around each of its iterations, under names of its own.
func (p *mixture) around(u driver.Unit, before, after []step) driver.Unit {
	for _, hook := range []struct {
		name  string
		steps []step
		to    *[]step
	}{{iterationSetup, before, &p.before}, {iterationTeardown, after, &p.after}} {
		if len(hook.steps) == 0 {
			continue
		}
		for _, st := range hook.steps {
			own := *st.request
			own.Statement = len(u.Statements)
			*hook.to = append(*hook.to, step{&own, st.count})
		}
		u.Statements = append(u.Statements, hook.name)
	}
	return u
}

func (p *mixture) pick(w driver.Worker, i int64) entry {
	last := p.entries[len(p.entries)-1]
	if len(p.entries) == 1 {
		return last
	}
	draw := float64(mix(p.seed^mix(uint64(w.ID)^mix(uint64(i))))>>11) / (1 << 53) * last.upTo
	for _, e := range p.entries {
		if draw < e.upTo {
			return e
		}
	}
	return last
}

func (p *mixture) Iteration(w driver.Worker, i int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		if !each(p.before, yield) {
			return
		}
		e := p.pick(w, i)
		for r := range e.program.Iteration(w, i) {
			if r.Statement != e.statement {
				// The program's own request stays as it is: it may be one of many iterations'.
				own := *r
				own.Statement = e.statement
				r = &own
			}
			if !yield(r) {
				return
			}
		}
		each(p.after, yield)
	}
}

func each(steps []step, yield func(*driver.Request) bool) bool {
	for _, s := range steps {
		for range s.count {
			if !yield(s.request) {
				return false
			}
		}
	}
	return true
}
