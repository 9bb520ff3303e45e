package driver

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Units with numbers of connections of their own: each runs all of its iterations on them, and during a
// ramp-up has its share of them.
func TestConnectionsOfAUnit(t *testing.T) {
	for name, sizes := range map[string][]int{"of one": {0, 5}, "fewer": {0, 1, 2}, "of all": {7, 2}, "alike": {3, 3}} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(t *testing.T) {
				p := plan(always(func(context.Context, *session, int) (Outcome, error) { return Outcome{Rows: 1}, nil }), 3, 4)
				unit := p.Units[0]
				p.Units = nil
				all := 0
				for i, n := range sizes {
					u := unit
					u.Name, u.Connections = fmt.Sprint("u", i), n
					p.Units = append(p.Units, u)
					if n == 0 {
						n = p.Connections
					}
					all += n
				}
				load, err := Run(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				want(t, load, map[string]int64{"batches": int64(4 * all), "iterations": int64(4 * all)})
				if load.Connections != all || load.Connected != all || load.PlannedIterations != int64(4*all) {
					t.Errorf("%s: %d connections, %d connected, %d planned", name, load.Connections, load.Connected, load.PlannedIterations)
				}
				for i, s := range load.Statements {
					n := sizes[i]
					if n == 0 {
						n = p.Connections
					}
					if s.Batches != int64(4*n) {
						t.Errorf("%s: %s has %d batches on %d connections", name, s.Name, s.Batches, n)
					}
				}
			})
		})
	}
}

func TestPlacesOfConnections(t *testing.T) {
	t.Parallel()
	p := Plan{Connections: 4, Iterations: 1, Units: []Unit{{}, {Connections: 8}, {Connections: 2}}}
	r := newRunner(t.Context(), p)
	defer r.cancel(nil)
	places := map[int][]int{}
	for i := range r.workers {
		w := &r.workers[i]
		if w.info.ID != i {
			t.Errorf("worker %d is %+v", i, w.info)
		}
		places[w.info.Unit] = append(places[w.info.Unit], w.place)
	}
	want := map[int][]int{0: {0, 2, 4, 6}, 1: {0, 1, 2, 3, 4, 5, 6, 7}, 2: {0, 4}}
	for unit := range want {
		if !slices.Equal(places[unit], want[unit]) {
			t.Errorf("unit %d: places %v, want %v", unit, places[unit], want[unit])
		}
	}
}

func TestStagesDoNotGoWithConnectionsOfAUnit(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Plan){
		"stages":   func(p *Plan) { p.Stages = []Stage{{Connections: 3, For: time.Second}} },
		"more":     func(p *Plan) { p.Rate, p.MaxConnections = 5, 9 },
		"negative": func(p *Plan) { p.Units[0].Connections = -1 },
	} {
		p := Plan{Connections: 1, Iterations: 1, Units: []Unit{{Name: "u", Connections: 2}}}
		if err := p.checkLoop(); err != nil {
			t.Fatal(err)
		}
		change(&p)
		if err := p.checkLoop(); err == nil {
			t.Errorf("%s: it is no error", name)
		}
	}
}
