package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// recording is a random trace: files of commands that each begin and end at numbers of one
// sequence, and what a replay of it does.
type recording struct {
	scripts []script.Script
	takes   [][]time.Duration // how long each command takes in the replay
	dies    []int             // the worker ends behind so many commands; len is never
	absent  []time.Duration   // the worker never begins, and is known not to after so long; 0 is it does
}

func record(rng *rand.Rand) recording {
	var r recording
	files := 1 + rng.IntN(6)
	ends := make([]int64, files) // of the command at work; 0 none
	left := 0
	for range files {
		n := 1 + rng.IntN(6)
		left += n
		r.scripts = append(r.scripts, script.Script{Path: fmt.Sprintf("f%d.rml", len(r.scripts)), Commands: []script.Command{}})
		r.takes = append(r.takes, make([]time.Duration, n))
		for i := range n {
			r.takes[len(r.takes)-1][i] = time.Duration(1+rng.IntN(9)) * time.Second
		}
		dies, absent := n, time.Duration(0)
		switch rng.IntN(6) {
		case 0:
			dies = rng.IntN(n)
		case 1:
			absent = time.Duration(1+rng.IntN(20)) * time.Second
		}
		r.dies, r.absent = append(r.dies, dies), append(r.absent, absent)
	}
	// Events of the trace in turn: a file begins or ends a command.
	for seq := int64(rng.IntN(3)); left > 0 || slices.ContainsFunc(ends, func(e int64) bool { return e != 0 }); {
		f := rng.IntN(files)
		s := &r.scripts[f]
		if ends[f] != 0 {
			s.Commands[len(s.Commands)-1].Next = seq
			ends[f] = 0
		} else if len(s.Commands) < len(r.takes[f]) {
			s.Commands = append(s.Commands, script.Command{Kind: script.Lang, Text: "x", Line: len(s.Commands) + 1, Ordered: true, Seq: seq})
			ends[f] = 1
			left--
		} else {
			continue
		}
		seq += 1 + int64(rng.IntN(3)) // other events of the trace have numbers too
	}
	// Sessions that the recording found at work, all of one number.
	for f := range r.scripts {
		if rng.IntN(4) == 0 {
			r.scripts[f].Commands[0].Seq = -1
		}
	}
	return r
}

type span struct{ begin, end time.Duration }

// model gives the time of each command by the order relation alone: a command starts when its
// worker is free and all that ended before it began have ended or been given up.
func (r recording) model() [][]span {
	type id struct{ f, c int }
	var all []id
	out := make([][]span, len(r.scripts))
	for f, s := range r.scripts {
		out[f] = make([]span, len(s.Commands))
		for c := range s.Commands {
			all = append(all, id{f, c})
		}
	}
	slices.SortFunc(all, func(a, b id) int {
		x, y := r.scripts[a.f].Commands[a.c], r.scripts[b.f].Commands[b.c]
		if x.Seq != y.Seq {
			return int(x.Seq - y.Seq)
		}
		return a.f - b.f
	})
	for _, b := range all {
		cmd := r.scripts[b.f].Commands[b.c]
		var begin time.Duration
		if b.c > 0 {
			begin = out[b.f][b.c-1].end
		}
		if r.absent[b.f] > 0 {
			out[b.f][b.c] = span{-1, r.absent[b.f]}
			continue
		}
		if b.c >= r.dies[b.f] { // given up when the one before ended
			out[b.f][b.c] = span{-1, begin}
			continue
		}
		for _, a := range all {
			if a.f != b.f && r.scripts[a.f].Commands[a.c].Next <= cmd.Seq {
				begin = max(begin, out[a.f][a.c].end)
			}
		}
		out[b.f][b.c] = span{begin, begin + r.takes[b.f][b.c]}
	}
	return out
}

// run replays it in simulated time.
func (r recording) run(t *testing.T) [][]span {
	units, err := Replay(context.Background(), r.scripts, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out := make([][]span, len(units))
	var wg sync.WaitGroup
	for f, u := range units {
		out[f] = make([]span, len(r.takes[f]))
		for c := range out[f] {
			out[f][c].begin = -1
		}
		wg.Go(func() {
			defer u.Program.(interface{ Ended(driver.Worker) }).Ended(driver.Worker{})
			if r.absent[f] > 0 {
				time.Sleep(r.absent[f])
				return
			}
			if r.dies[f] == 0 {
				return
			}
			c := 0
			for range u.Program.Iteration(driver.Worker{}, 0) {
				out[f][c].begin = time.Since(start)
				time.Sleep(r.takes[f][c])
				out[f][c].end = time.Since(start)
				if c++; c == r.dies[f] {
					break
				}
			}
		})
	}
	wg.Wait()
	return out
}

// TestReplayKeepsTheOrder replays random recordings: each command starts exactly when the order
// relation lets it, no earlier and no later, whoever dies or never comes.
func TestReplayKeepsTheOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		synctest.Test(t, func(t *testing.T) {
			r := record(rand.New(rand.NewPCG(seed, 1)))
			want, got := r.model(), r.run(t)
			for f := range want {
				for c := range want[f] {
					if w, g := want[f][c], got[f][c]; w.begin != g.begin || w.begin >= 0 && w.end != g.end {
						t.Errorf("seed %d, file %d, command %d (SEQ %d to %d): ran at %v, want %v",
							seed, f, c, r.scripts[f].Commands[c].Seq, r.scripts[f].Commands[c].Next, g, w)
					}
				}
			}
		})
	}
}

// ordered is a command with its numbers.
func ordered(text string, seq, next int64) script.Command {
	return script.Command{Kind: script.Lang, Text: text, Line: 1, Col: 1, Ordered: true, Seq: seq, Next: next}
}

// TestReplayStops: an end of the context frees those who wait for their turn or their time.
func TestReplayStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		late := ordered("late", -1, 10)
		late.Timed, late.At = true, 200*365*24*time.Hour
		soon := ordered("soon", 1, 2)
		soon.Timed = true
		scripts := []script.Script{
			{Path: "a.rml", Commands: []script.Command{ordered("never answered", 3, 4)}},
			{Path: "b.rml", Commands: []script.Command{ordered("waits", 5, 6)}},
			{Path: "c.rml", Commands: []script.Command{late}}, // waits for its time alone
			{Path: "d.rml", Commands: []script.Command{soon}},
		}
		units, err := Replay(ctx, scripts, ReplayOptions{TimeFactor: 1000})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex
		ran := map[string]bool{}
		cut := 0
		for i, u := range units {
			wg.Go(func() {
				for r := range u.Program.Iteration(driver.Worker{}, 0) {
					mu.Lock()
					if ctx.Err() != nil { // the driver is stopping, sends nothing, and notes that the program had more
						cut++
						mu.Unlock()
						break
					}
					ran[r.Text] = true
					mu.Unlock()
					if i == 0 {
						<-ctx.Done()
					}
				}
			})
		}
		wg.Wait()
		if d := cmp.Diff(map[string]bool{"never answered": true, "soon": true}, ran); d != "" || cut != 2 || time.Since(start) != time.Minute {
			t.Errorf("after %v, %d cut short, ran (-want +got):\n%s", time.Since(start), cut, d)
		}
	})
}

func TestReplayPace(t *testing.T) {
	t.Parallel()
	at := func(c script.Command, d time.Duration) script.Command {
		c.Timed, c.At = true, d
		return c
	}
	tests := map[string]struct {
		scripts []script.Script
		factor  float64
		want    map[string]time.Duration
		note    string
	}{
		"as recorded": {[]script.Script{
			{Path: "a", Commands: []script.Command{at(ordered("a", 1, 2), 10*time.Second), at(ordered("b", 5, 6), 14*time.Second)}},
			{Path: "b", Commands: []script.Command{at(ordered("c", 3, 4), 12*time.Second), ordered("d", 7, 8)}},
		}, 0, map[string]time.Duration{"a": 0, "c": 2 * time.Second, "b": 4 * time.Second, "d": 5 * time.Second}, ""},
		"half as long": {[]script.Script{
			{Path: "a", Commands: []script.Command{at(ordered("a", 1, 2), 10*time.Second), at(ordered("b", 3, 4), 14*time.Second)}},
		}, 0.5, map[string]time.Duration{"a": 0, "b": 2 * time.Second}, ""},
		"as fast as it goes": {[]script.Script{
			{Path: "a", Commands: []script.Command{at(ordered("a", 1, 2), 10*time.Second), at(ordered("b", 3, 4), 14*time.Hour)}},
		}, 1e-6, map[string]time.Duration{"a": 0, "b": time.Second}, ""},
		"late is not waited for": {[]script.Script{
			{Path: "a", Commands: []script.Command{at(ordered("a", 1, 2), 0), at(ordered("b", 3, 4), 500*time.Millisecond)}},
		}, 1, map[string]time.Duration{"a": 0, "b": time.Second}, ""},
		"times that go back": {[]script.Script{
			{Path: "a", Commands: []script.Command{at(ordered("a", 1, 2), time.Hour), ordered("-", 3, 4), at(ordered("b", 5, 6), time.Minute)}},
			{Path: "b", Commands: []script.Command{at(ordered("c", 7, 8), 12*time.Hour)}},
		}, 1, map[string]time.Duration{"a": 0, "-": time.Second, "b": 2 * time.Second, "c": 3 * time.Second}, "a, line 1: DELTA is less than on line 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var notes []string
				units, err := Replay(context.Background(), tt.scripts, ReplayOptions{TimeFactor: tt.factor, Note: func(s string) { notes = append(notes, s) }})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				got := map[string]time.Duration{}
				var mu sync.Mutex
				var wg sync.WaitGroup
				for _, u := range units {
					wg.Go(func() {
						for r := range u.Program.Iteration(driver.Worker{}, 0) {
							mu.Lock()
							got[r.Text] = time.Since(start).Truncate(time.Second)
							mu.Unlock()
							time.Sleep(time.Second)
						}
					})
				}
				wg.Wait()
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("started at (-want +got):\n%s", d)
				}
				if all := strings.Join(notes, "\n"); !strings.Contains(all, tt.note) || tt.note == "" && all != "" {
					t.Errorf("notes %q, want %q", all, tt.note)
				}
			})
		})
	}
}

func TestReplaySelects(t *testing.T) {
	t.Parallel()
	const file = `<RML><CONNECT SEQ="-1" NEXTSEQ="0"><CMD>set 0</CMD></CONNECT><LANG SEQ="1"><CMD>a</CMD></LANG>
<DISCONNECT SEQ="5"/><CONNECT SEQ="10"><CMD>set 1</CMD></CONNECT><LANG SEQ="20"><CMD>b</CMD></LANG><LANG SEQ="30"><CMD>c</CMD></LANG><DISCONNECT/>
<CONNECT SEQ="40"/><LANG SEQ="50"><CMD>d</CMD></LANG></RML>`
	tests := map[string]struct {
		start, stop int64
		want        string // "" = nothing to replay
	}{
		"all":                    {0, 0, "set 0,a,|,set 1,b,c,|,d"},
		"from one on":            {20, 0, "set 1,b,c,|,d"},
		"to one":                 {0, 20, "set 0,a,|,set 1,b"},
		"between":                {20, 30, "set 1,b,c,|"},
		"one":                    {25, 35, "set 1,c,|"},
		"between two sessions":   {6, 9, ""},
		"only an end":            {5, 9, ""},
		"the CONNECT itself":     {10, 12, "set 1"},
		"from the first session": {1, 1, "set 0,a"},
		"behind all":             {51, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			units, err := Replay(context.Background(), []script.Script{rml(t, "x.rml", file)}, ReplayOptions{StartSeq: tt.start, StopSeq: tt.stop})
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), "nothing to replay") {
					t.Errorf("got %v, %v", units, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := sends(collect(units[0].Program.Iteration(driver.Worker{}, 0))); got != tt.want || units[0].Name != "x.rml" {
				t.Errorf("%s sends %s, want %s", units[0].Name, got, tt.want)
			}
		})
	}
	var notes []string
	units, err := Replay(context.Background(), []script.Script{rml(t, "x.rml", file), rml(t, "y.rml", `<RML><LANG SEQ="60"><CMD>e</CMD></LANG></RML>`)},
		ReplayOptions{StartSeq: 55, Note: func(s string) { notes = append(notes, s) }})
	if err != nil || len(units) != 1 || units[0].Name != "y.rml" || len(notes) != 1 || !strings.Contains(notes[0], "x.rml has no command") {
		t.Errorf("got %v, %q, %v", units, notes, err)
	}
}

func TestReplayFaults(t *testing.T) {
	t.Parallel()
	const fine = "<RML>\n<LANG SEQ='1'><CMD>a</CMD></LANG><LANG SEQ='5'><CMD>b</CMD></LANG></RML>"
	tests := map[string]struct{ in, want string }{
		"a number twice":         {"<RML>\n\n <LANG SEQ='5'><CMD>a</CMD></LANG></RML>", "b.rml, line 3, column 2: SEQ=5 stands twice: it is the number of a.rml, line 2, column 34 too"},
		"a number twice in one":  {"<RML><LANG SEQ='7'><CMD>a</CMD></LANG>\n<LANG SEQ='7'><CMD>a</CMD></LANG></RML>", "b.rml, line 2, column 1: SEQ=7 does not follow SEQ=7"},
		"numbers that go back":   {"<RML><LANG SEQ='7'><CMD>a</CMD></LANG>\n<LANG SEQ='6'><CMD>a</CMD></LANG></RML>", "SEQ=6 does not follow SEQ=7"},
		"a batch without number": {"<RML>\n<LANG><CMD>a</CMD></LANG></RML>", "b.rml, line 2, column 1: <LANG> has no SEQ"},
		"a call without number":  {"<RML><RPC><CMD>{call p}</CMD></RPC></RML>", "<RPC> has no SEQ"},
		"a marker":               {"<RML><RPC SEQ='7'><CMD>{call p(?)}</CMD></RPC></RML>", "b.rml, line 1: the ODBC escape"},
		"a login that fails":     {"<RML><CONNECT SEQ='7' USER='who'/></RML>", "b.rml, line 1, column 6: nobody knows who"},
	}
	login := func(user string) (driver.Connector, error) {
		if user != "" {
			return nil, errors.New("nobody knows " + user)
		}
		return nil, nil
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Replay(context.Background(), []script.Script{rml(t, "a.rml", fine), rml(t, "b.rml", tt.in)}, ReplayOptions{Login: login})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
		})
	}
	if _, err := Replay(context.Background(), []script.Script{{Path: "a.sql", Batches: []script.Batch{{Text: "a"}}}}, ReplayOptions{}); err == nil || !strings.Contains(err.Error(), "a.sql: a replay takes .rml files alone") {
		t.Errorf("a .sql file: %v", err)
	}
	// Sessions that were open when the recording began have one number.
	same := "<RML><CONNECT SEQ='-1' NEXTSEQ='-1'/><LANG SEQ='-1'><CMD>a</CMD></LANG></RML>"
	units, err := Replay(context.Background(), []script.Script{rml(t, "a.rml", same), rml(t, "b.rml", same)}, ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		if got := sends(collect(u.Program.Iteration(driver.Worker{}, 0))); got != "a" {
			t.Errorf("%s sends %s", u.Name, got)
		}
	}
}

// named is a connector that tells its name as its session's error.
type named string

func (n named) Connect(context.Context) (driver.Session, error) { return nil, errors.New(string(n)) }

// TestReplayLogsInAs: each CONNECT logs in by its own name.
func TestReplayLogsInAs(t *testing.T) {
	t.Parallel()
	login := func(user string) (driver.Connector, error) { return named("as " + user), nil }
	s := rml(t, "a.rml", `<RML><CONNECT SEQ="1" USER="ann"/><LANG SEQ="2"><CMD>a</CMD></LANG><CONNECT SEQ="3"/><LANG SEQ="4"><CMD>b</CMD></LANG><CONNECT SEQ="5"><USER> bob </USER></CONNECT><LANG SEQ="6"><CMD>c</CMD></LANG></RML>`)
	units, err := Replay(context.Background(), []script.Script{s}, ReplayOptions{Login: login})
	if err != nil {
		t.Fatal(err)
	}
	who := func() string {
		_, err := units[0].Connector.Connect(context.Background())
		return err.Error()
	}
	got := []string{who()}
	for r := range units[0].Program.Iteration(driver.Worker{}, 0) {
		if r.Kind != driver.Disconnect {
			got = append(got, r.Text+" "+who())
		}
	}
	if d := cmp.Diff([]string{"as ann", "a as ann", "b as ", "c as bob"}, got); d != "" {
		t.Errorf("logins (-want +got):\n%s", d)
	}
}

// timed is a session whose batches are durations; it tells when each began.
type timed struct{ tell func(text string) }

func (s timed) Connect(context.Context) (driver.Session, error) { return s, nil }

func (s timed) Do(_ context.Context, r *driver.Request, _ driver.Sink) (driver.Outcome, error) {
	s.tell(r.Text)
	if r.Text == "lost" {
		return driver.Outcome{}, &driver.LostError{Err: errors.New("connection reset by peer")}
	}
	d, err := time.ParseDuration(r.Text)
	if err != nil {
		return driver.Outcome{Errors: []driver.ServerError{{Number: 50000, Class: 16, Message: err.Error()}}}, nil
	}
	time.Sleep(d)
	return driver.Outcome{}, nil
}

func (s timed) Close() error { return nil }

// TestReplayThroughTheDriver: a login that fails, a connection that is lost for good and a batch
// that fails hold nobody up.
func TestReplayThroughTheDriver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var start time.Time
		got := map[string]time.Duration{}
		good := timed{func(text string) {
			mu.Lock()
			defer mu.Unlock()
			if start.IsZero() {
				start = time.Now()
			}
			got[text] = time.Since(start)
		}}
		login := func(user string) (driver.Connector, error) {
			if user == "nobody" {
				return named("login failed"), nil
			}
			return good, nil
		}
		units, err := Replay(context.Background(), []script.Script{
			rml(t, "a.rml", `<RML><LANG SEQ="1" NEXTSEQ="4"><CMD>5s</CMD></LANG><LANG SEQ="20" NEXTSEQ="21"><CMD>1s</CMD></LANG></RML>`),
			rml(t, "b.rml", `<RML><CONNECT SEQ="2" USER="nobody"/><LANG SEQ="5" NEXTSEQ="6"><CMD>never</CMD></LANG></RML>`),
			rml(t, "c.rml", `<RML><LANG SEQ="3" NEXTSEQ="8"><CMD>lost</CMD></LANG><LANG SEQ="9" NEXTSEQ="10"><CMD>not sent</CMD></LANG></RML>`),
			rml(t, "d.rml", `<RML><LANG SEQ="7" NEXTSEQ="11"><CMD>fails</CMD></LANG><DISCONNECT SEQ="12"/><LANG SEQ="13" NEXTSEQ="15"><CMD>2s</CMD></LANG></RML>`),
		}, ReplayOptions{Login: login})
		if err != nil {
			t.Fatal(err)
		}
		load, err := driver.Run(context.Background(), driver.Plan{Connector: good, Units: units, Connections: 1, Iterations: 1,
			Reconnect: driver.ReconnectNever, FilesPerConnection: -1})
		if err != nil {
			t.Error(err)
		}
		want := map[string]time.Duration{"5s": 0, "lost": 0, "fails": 5 * time.Second, "2s": 5 * time.Second, "1s": 7 * time.Second}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("started at (-want +got):\n%s", d)
		}
		if load.Batches != 3 || load.FailedBatches != 1 || load.InDoubt != 1 || load.Skipped != 1 || load.ConnectFailed != 1 || load.Disconnects != 1 {
			t.Errorf("%+v", load)
		}
	})
}
