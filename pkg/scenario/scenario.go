// Package scenario says what a connection runs: it turns a query, the batches of a script, or a
// run of a bundled workload into the driver's units, and it installs, resets, verifies and
// removes what the bundled workloads need on a server.
package scenario

import (
	"context"
	"iter"
	"path/filepath"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// FromScript makes a unit of a script: each iteration runs its batches in order, each as often as
// its count says, or the commands of an .rml file in the file's order. A pause that the file asks
// for (WAITAFTER) is made after the command, inside the iteration, and ends early when ctx does.
func FromScript(ctx context.Context, s script.Script) (driver.Unit, error) {
	name := "query"
	if s.Path != "" {
		name = filepath.Base(s.Path)
	}
	if s.Commands != nil {
		p, err := fromCommands(ctx, s)
		return driver.Unit{Name: name, Program: p}, err
	}
	p := &batches{}
	for i, b := range s.Batches {
		source := driver.Source{File: fullPath(s.Path), Line: b.Line, Batch: i + 1}
		r, err := request(b.Text, source)
		if err != nil {
			return driver.Unit{}, err
		}
		p.steps = append(p.steps, step{request: r, count: b.Count})
	}
	return driver.Unit{Name: name, Program: p}, nil
}

// FromText makes a unit of one query, as -Q gives it: GO lines in it separate batches.
func FromText(ctx context.Context, text string) (driver.Unit, error) {
	s, err := script.FromText(text)
	if err != nil {
		return driver.Unit{}, err
	}
	return FromScript(ctx, s)
}

// batches is the program of a script. The same requests are yielded in every iteration, so that a
// repeat count costs no memory.
type batches struct{ steps []step }

type step struct {
	request *driver.Request
	count   int64
}

func (p *batches) Iteration(driver.Worker, int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		for _, s := range p.steps {
			for range s.count {
				if !yield(s.request) {
					return
				}
			}
		}
	}
}

// pause waits for d and says whether it came to its end before ctx did.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
