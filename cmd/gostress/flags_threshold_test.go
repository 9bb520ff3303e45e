package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gostress/pkg/driver"
	"gostress/pkg/result"
	"gostress/pkg/threshold"
)

func condition(t *testing.T, expr string) threshold.Condition {
	t.Helper()
	c, err := threshold.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers is a server whose conditions come one after the other.
type answers []threshold.Server

func (a *answers) Conditions(context.Context) (threshold.Server, error) {
	if len(*a) == 0 {
		return nil, errors.New("it does not answer")
	}
	s := (*a)[0]
	*a = (*a)[1:]
	return s, nil
}

func TestAborterWaitsForItsGraceAndForAValue(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	w := aborter{limits: limits{grace: 5 * time.Second, abortOn: []threshold.Condition{condition(t, "p99>20ms"), condition(t, "errors>2")}}, abort: cancel}
	w.load(&result.Load{RunS: 4.9, FailedBatches: 100})
	w.load(&result.Load{RunS: 6, FailedBatches: 2}) // no batch succeeded: p99 is not known
	if ctx.Err() != nil {
		t.Fatal(context.Cause(ctx))
	}
	w.load(&result.Load{RunS: 7, FailedBatches: 3})
	var why *aborted
	if !errors.As(context.Cause(ctx), &why) || why.found.Expr != "errors>2" || why.found.Value != 3 {
		t.Errorf("%v", context.Cause(ctx))
	}
}

func TestAborterAsksTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		w := aborter{limits: limits{abortOn: []threshold.Condition{condition(t, "blocked_others>0")}}, abort: cancel,
			observer: &answers{{"blocked_others": 0}, nil, {"blocked_others": 2}}}
		go w.watch(ctx)
		for range 2 {
			synctest.Wait()
			w.load(&result.Load{RunS: 1})
			if ctx.Err() != nil {
				t.Fatal(context.Cause(ctx))
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		w.load(&result.Load{RunS: 3})
		var why *aborted
		if !errors.As(context.Cause(ctx), &why) || why.found.Expr != "blocked_others>0" {
			t.Errorf("%v", context.Cause(ctx))
		}
	})
}

func TestConditionsOnStatementsThatAreNot(t *testing.T) {
	t.Parallel()
	units := []driver.Unit{{Name: "a.sql"}, {Name: "a.sql"}, {Name: "mix", Statements: []string{"insert"}}}
	for expr, known := range map[string]bool{"p99<1s": true, "insert.p99<1s": true, `"a.sql".p99<1s`: true, `"a.sql (2)".p99<1s`: true, "mix.p99<1s": false, "update.rate>1/s": false} {
		l := limits{thresholds: []threshold.Condition{condition(t, expr)}}
		if err := l.know(units); (err == nil) != known {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exprs []string
		run   result.Run
		want  result.Verdict
	}{
		"nothing":      {nil, result.Run{}, ""},
		"passed":       {[]string{"errors==0"}, result.Run{}, result.Passed},
		"failed":       {[]string{"errors==0", "errors>0"}, result.Run{}, result.Failed},
		"aborted":      {[]string{"errors==0"}, result.Run{Aborted: "p99>1s"}, result.Failed},
		"void":         {nil, result.Run{Load: result.Load{GeneratorBound: true}}, result.Void},
		"void, though": {nil, result.Run{Aborted: "p99>1s", Load: result.Load{GeneratorBound: true}}, result.Void},
	} {
		var l limits
		for _, e := range c.exprs {
			l.thresholds = append(l.thresholds, condition(t, e))
		}
		if l.judge(&c.run); c.run.Verdict != c.want || len(c.run.Thresholds) != len(c.exprs) {
			t.Errorf("%s: %q, %v", name, c.run.Verdict, c.run.Thresholds)
		}
	}
}
