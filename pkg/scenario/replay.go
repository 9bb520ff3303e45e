package scenario

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// ReplayOptions say what of a recording is replayed, and how.
type ReplayOptions struct {
	// StartSeq and StopSeq are the first and the last sequence number to be replayed; 0 is no bound.
	StartSeq, StopSeq int64
	// TimeFactor scales the times of the recording: 2 takes twice as long. 0 is 1.
	TimeFactor float64
	// Login gives the connector for the login name of a CONNECT, "" where it has none. When nil, all
	// connect by the plan's.
	Login func(user string) (driver.Connector, error)
	// Note, if set, takes lines for the user.
	Note func(string)
}

// Replay makes the units of a replay, one for each .rml file that has something to run, to be run
// with one connection and one iteration each. Its commands keep the global order of the recording:
// one starts when all that had ended before it began have ended, and not before its own time where
// the file has times. The errors, of files that cannot be put in one order, are *script.Error.
func Replay(ctx context.Context, scripts []script.Script, o ReplayOptions) ([]driver.Unit, error) {
	if o.TimeFactor == 0 {
		o.TimeFactor = 1
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	files := make([]replayFile, 0, len(scripts))
	for _, s := range scripts {
		if s.Commands == nil {
			return nil, &script.Error{Path: s.Path, Text: "a replay takes .rml files alone"}
		}
		if err := inOrder(s); err != nil {
			return nil, err
		}
		kept := between(s.Commands, o.StartSeq, o.StopSeq)
		if len(kept) == 0 {
			o.Note(fmt.Sprintf("%s has no command from StartSeqNum to StopSeqNum: it is left out", s.Path))
			continue
		}
		files = append(files, replayFile{path: s.Path, commands: kept})
	}
	if len(files) == 0 {
		return nil, errors.New("nothing to replay: no file has a command from StartSeqNum to StopSeqNum")
	}
	if err := once(files); err != nil {
		return nil, err
	}
	pace := newPace(files, o)
	seq := newSequencer(len(files))
	logins := map[string]driver.Connector{}
	units := make([]driver.Unit, len(files))
	for i, f := range files {
		steps, _, err := commandSteps(f.path, f.commands)
		if err != nil {
			return nil, err
		}
		p := &replay{ctx: ctx, file: i, sequence: seq, pace: pace, steps: replaySteps(f.commands, steps)}
		units[i] = driver.Unit{Name: filepath.Base(f.path), Program: p}
		if o.Login != nil {
			if err := addLogins(logins, f, o.Login); err != nil {
				return nil, err
			}
			p.logins, units[i].Connector = logins, p
			p.as("")
			if f.commands[0].Kind == script.Connect {
				p.as(f.commands[0].User)
			}
		}
		seq.set(i, p.steps[0].left)
	}
	return units, nil
}

// replayFile is a file with the commands that are replayed.
type replayFile struct {
	path     string
	commands []script.Command
}

// inOrder holds a file against what a replay needs: every batch has its number, and the numbers grow.
func inOrder(s script.Script) error {
	last := int64(math.MinInt64)
	for _, c := range s.Commands {
		fault := func(format string, args ...any) error {
			return &script.Error{Path: s.Path, Line: c.Line, Col: c.Col, Text: fmt.Sprintf(format, args...)}
		}
		switch {
		case !c.Ordered && (c.Kind == script.Lang || c.Kind == script.RPC):
			return fault("%s has no SEQ, and a replay goes by it; in stress mode it is not needed", c.Kind)
		case !c.Ordered:
		case c.Seq < last || c.Seq == last && c.Seq >= 0:
			return fault("SEQ=%d does not follow SEQ=%d of the command before it: one connection runs one command after the other", c.Seq, last)
		default:
			last = c.Seq
		}
	}
	return nil
}

// between keeps the commands whose numbers lie from start to stop. A session that is open at the
// start is opened then, with the options of its CONNECT, as one that the recording found open.
func between(all []script.Command, start, stop int64) []script.Command {
	var kept []script.Command
	var open *script.Command // the CONNECT of a session that has begun before start
	last := int64(math.MinInt64)
	work := false
	for i, c := range all {
		if c.Ordered {
			last = c.Seq
		}
		// A command without a number of its own is where the one before it is.
		switch {
		case stop > 0 && last > stop:
			continue
		case start <= 0 || last >= start:
		case c.Kind == script.Connect:
			open = &all[i]
			continue
		case c.Kind == script.Disconnect:
			open = nil
			continue
		default:
			continue
		}
		if open != nil && len(kept) == 0 && c.Kind != script.Connect {
			first := *open
			first.Ordered, first.Seq, first.Next = true, -1, 0
			first.Timed, first.At, first.After = false, 0, 0
			kept = append(kept, first)
		}
		kept = append(kept, c)
		work = work || c.Kind != script.Disconnect
	}
	if !work {
		return nil
	}
	return kept
}

// once holds the files against each other: no number stands twice.
func once(files []replayFile) error {
	type number struct {
		seq           int64
		file, command int
	}
	var all []number
	for i, f := range files {
		for j, c := range f.commands {
			if c.Ordered && c.Seq >= 0 {
				all = append(all, number{c.Seq, i, j})
			}
		}
	}
	slices.SortFunc(all, func(a, b number) int {
		switch {
		case a.seq != b.seq && a.seq < b.seq:
			return -1
		case a.seq != b.seq:
			return 1
		}
		return a.file - b.file
	})
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.seq != b.seq {
			continue
		}
		first, second := files[a.file].commands[a.command], files[b.file].commands[b.command]
		return &script.Error{Path: files[b.file].path, Line: second.Line, Col: second.Col,
			Text: fmt.Sprintf("SEQ=%d stands twice: it is the number of %s, line %d, column %d too", a.seq, files[a.file].path, first.Line, first.Col)}
	}
	return nil
}

// addLogins finds the connectors of all names in a file, and that of none, so that what is wrong
// with one is said before anything runs.
func addLogins(logins map[string]driver.Connector, f replayFile, login func(string) (driver.Connector, error)) error {
	for _, c := range append([]script.Command{{}}, f.commands...) {
		if _, known := logins[c.User]; known {
			continue
		}
		connector, err := login(c.User)
		if err != nil {
			return &script.Error{Path: f.path, Line: c.Line, Col: c.Col, Text: err.Error(), Err: err}
		}
		logins[c.User] = connector
	}
	return nil
}

// pace says when the commands of a replay are due.
type pace struct {
	timed  bool
	base   time.Duration // the least time of all
	factor float64
	begin  func() time.Time // when the first worker began
}

// newPace looks at the times of the files. They are taken as times since one start; where they go
// back within a file they cannot be, and the order alone is kept.
func newPace(files []replayFile, o ReplayOptions) pace {
	p := pace{factor: o.TimeFactor, base: math.MaxInt64, begin: sync.OnceValue(time.Now)}
	for _, f := range files {
		var last *script.Command
		for i, c := range f.commands {
			if !c.Timed {
				continue
			}
			if last != nil && c.At < last.At {
				o.Note(fmt.Sprintf("%s, line %d: DELTA is less than on line %d, so it is no time since the start of the recording: the order is kept, the pace is not", f.path, c.Line, last.Line))
				return pace{begin: p.begin}
			}
			last = &f.commands[i]
			p.timed, p.base = true, min(p.base, c.At)
		}
	}
	return p
}

// wait waits until the time of a command has come, and is false when ctx ends before.
func (p pace) wait(ctx context.Context, at time.Duration) bool {
	if !p.timed {
		return true
	}
	due := min(float64(at-p.base)*p.factor, math.MaxInt64/2)
	d := time.Duration(due) - time.Since(p.begin())
	return d <= 0 || pause(ctx, d)
}

// replayStep is a command's step with its place in the order.
type replayStep struct {
	commandStep
	ordered bool
	seq     int64
	left    int64 // the least end of this and the ordered steps behind it
	timed   bool
	at      time.Duration
	connect bool
	user    string
}

func replaySteps(cmds []script.Command, steps []commandStep) []replayStep {
	out := make([]replayStep, len(cmds)+1)
	out[len(cmds)].left = noEnd // what is left behind the last
	for i := len(cmds) - 1; i >= 0; i-- {
		c := cmds[i]
		out[i] = replayStep{commandStep: steps[i], ordered: c.Ordered, seq: c.Seq, left: out[i+1].left,
			timed: c.Timed, at: c.At, connect: c.Kind == script.Connect, user: c.User}
		if c.Ordered {
			out[i].left = min(out[i].left, c.Next)
		}
	}
	return out
}

// replay is the program of a file in a replay.
type replay struct {
	ctx      context.Context
	file     int // its index in sequence
	sequence *sequencer
	pace     pace
	steps    []replayStep // and one behind the last
	logins   map[string]driver.Connector
	user     atomic.Pointer[string] // as whom the next session logs in
}

func (p *replay) as(user string) { p.user.Store(&user) }

// Connect makes a replay the connector of its own unit, as the login of the CONNECT at hand.
func (p *replay) Connect(ctx context.Context) (driver.Session, error) {
	return p.logins[*p.user.Load()].Connect(ctx)
}

func (p *replay) Iteration(driver.Worker, int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		defer p.sequence.leave(p.file)
		p.pace.begin()
		last := len(p.steps) - 1
		for i, s := range p.steps[:last] {
			if s.ordered && !p.sequence.wait(p.ctx, s.seq) || s.timed && !p.pace.wait(p.ctx, s.at) {
				yield(&unfinished)
				return
			}
			if s.connect {
				p.as(s.user)
			}
			for _, r := range s.requests {
				if !yield(r) {
					return
				}
			}
			p.sequence.set(p.file, p.steps[i+1].left)
			if s.after > 0 && !pause(p.ctx, s.after) {
				if i < last-1 {
					yield(&unfinished)
				}
				return
			}
		}
	}
}

// Ended gives up what the worker has not run, so that no other waits for it.
func (p *replay) Ended(driver.Worker) { p.sequence.leave(p.file) }
