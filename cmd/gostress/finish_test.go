package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// The exit statuses in their order: an interrupt goes before an error, that before a void verdict,
// and that before a failed one.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("the input is gone")
	for name, c := range map[string]struct {
		run         stressRun
		err         error
		interrupted bool
		want        int
		says        string
	}{
		"good":        {want: exitOK, says: "exiting normally"},
		"failed":      {run: stressRun{failed: true}, want: exitThreshold, says: "with a failed verdict (99)"},
		"void":        {run: stressRun{failed: true, void: true}, want: exitVoid, says: "with a void verdict (98)"},
		"error":       {run: stressRun{failed: true, void: true}, err: broken, want: exitFailed, says: "due to error (1)"},
		"interrupted": {run: stressRun{failed: true, void: true}, err: broken, interrupted: true, want: exitInterrupted, says: "after an interrupt"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		if c.interrupted {
			cancel(errInterrupted)
		}
		var console strings.Builder
		c.run.cmd, c.run.log = &stressCmd{}, newLog(&console)
		err := c.run.finish(&app{ctx: ctx, stderr: io.Discard}, time.Now(), c.err)
		cancel(nil)
		got := exitOK
		var ee *exitError
		if errors.As(err, &ee) {
			got = ee.code
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got != c.want || !strings.Contains(console.String(), c.says) {
			t.Error(fmt.Sprintf("%s: status %d, want %d; ", name, got, c.want) + console.String())
		}
	}
}
