package pace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSteps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Step{
		"10:30s":                 {{Text: "10:30s", Connections: 10, For: 30 * time.Second}},
		"10:30s, 50:1m":          {{Text: "10:30s", Connections: 10, For: 30 * time.Second}, {Text: "50:1m", Connections: 50, For: time.Minute}},
		"500/s:30s,60000/min:1h": {{Text: "500/s:30s", Rate: 500, For: 30 * time.Second}, {Text: "60000/min:1h", Rate: 1000, For: time.Hour}},
	} {
		got, err := ParseSteps(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}

func TestParseStepsNamesTheStep(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                `stage 1, "": write CONNECTIONS:TIME`,
		"10:30s,":         `stage 2, "": write CONNECTIONS:TIME`,
		"10":              `stage 1, "10": write CONNECTIONS:TIME`,
		"10:30s,x:1m":     `stage 2, "x:1m": "x" is no number of connections`,
		"0:1m":            `0 connections: from 1`,
		"10:30":           `"30" is no duration`,
		"10:0s":           `"0s": it must be above zero`,
		"10:-1s":          `it must be above zero`,
		"10:9000h":        `at most 8784h0m0s`,
		"10:30s,500/s:1m": `stage 2, "500/s:1m": either all stages`,
		"5/parsec:1s":     `"parsec" is no unit`,
		"1:1s" + strings.Repeat(",1:1s", MaxSteps): `101 stages: at most 100`,
	} {
		if _, err := ParseSteps(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

func FuzzSteps(f *testing.F) {
	for _, seed := range []string{"10:30s,50:1m", "500/s:30s", "1:1s,", "1e3/s:1ns", "9999999:2562047h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		steps, err := ParseSteps(s)
		if err != nil {
			return
		}
		sum := time.Duration(0)
		for _, step := range steps {
			if (step.Connections > 0) == (step.Rate > 0) || step.For <= 0 {
				t.Fatalf("%q: %+v", s, step)
			}
			if sum += step.For; sum <= 0 {
				t.Fatalf("%q lasts %v", s, sum)
			}
		}
	})
}
