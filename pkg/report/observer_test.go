package report

import (
	"strings"
	"testing"

	"gostress/pkg/result"
)

func TestObserver(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	observer(&b, &result.Observer{Samples: 60, FailedSamples: 1, LateSamples: 2, IntervalS: 1, MeanUS: 1250, MaxUS: 4000, Share: 0.00125,
		Conditions: map[string]result.Observed{"log_used": {Last: 41.5, Max: 80.25}, "blocked_others": {Max: 3}}})
	want := `  Observer     60 samples of the server, 1 failed, 2 late, 1.250 ms each, 0.12 % of the time
               blocked_others: 0 at the end, 3 at most
               log_used: 41.5 at the end, 80.25 at most
`
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	b.Reset()
	if observer(&b, nil); b.Len() != 0 {
		t.Error(b.String())
	}
}
