package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"gostress/pkg/ostress"
	"gostress/pkg/scenario"
)

// Every switch of a run has a key in scenarios, or a reason not to.
func TestASwitchHasAKey(t *testing.T) {
	t.Parallel()
	cli, err := newCLI(io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]string{
		"help":     "asks for help",
		"password": "does not belong in a file", "replay-password": "does not belong in a file",
		"query": "a statement says it", "input": "a statement says it", "workload": "a statement says it", "mode": "a statement says it", "codepage": "is of -i",
		"run-mode": "a scenario is no replay", "reset": "is of --workload",
		"no-exit-line": "is ostress's manners", "trace-flag": "is ostress's manners; target.encrypt says it",
	}
	keys := scenario.MixSwitches()
	for _, node := range cli.parser.Model.Children {
		if node.Name != "stress" {
			continue
		}
		for _, flag := range node.Flags {
			_, excused := without[flag.Name]
			if slices.Contains(keys, flag.Name) == excused {
				t.Errorf("--%s: give it a key in pkg/scenario/mixfile.go and a word in docs/scenario.md, or say here why it has none", flag.Name)
			}
		}
	}
	for _, key := range keys {
		if _, err := cli.parse([]string{"stress", "--" + key + "=true"}); err != nil {
			t.Errorf("a key stands for --%s, which there is not: %v", key, err)
		}
	}
}

func TestWhatTheCommandLineLeavesOfAFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, own, want string }{
		"nothing of its own": {"--rate=5/s --duration=1m", "", "--rate=5/s --duration=1m"},
		"the same":           {"--connections=3 --seed=1", "--connections=5", "--seed=1"},
		"against it":         {"--stages=3:1m --think=1s --seed=1", "--rate=5/s --duration=1m", "--seed=1"},
		"another source":     {"--param-query=q --param-server=s --param-order=random", "--params=f.csv", "--param-order=random"},
		"conditions":         {"--threshold=p99<1s", "--threshold=p50<1s", "--threshold=p99<1s"},
		"variables":          {"--var=id:int=seq(1) --var=b=seq(2)", "--var=@ID=seq(7)", "--var=b=seq(2)"},
		"sqlcmd's":           {"--sqlcmd-vars=a=1 --sqlcmd-vars=b=2", "--sqlcmd-vars=A", "--sqlcmd-vars=b=2"},
	} {
		var file []scenario.Switch
		for text := range strings.FieldsSeq(c.file) {
			name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
			file = append(file, scenario.Switch{Name: name, Value: value})
		}
		var got []string
		for _, s := range leftOf(file, strings.Fields(c.own)) {
			got = append(got, s.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestPlacesOfSwitches(t *testing.T) {
	t.Parallel()
	file := []scenario.Switch{{Name: "rate", Value: "5/s", Line: 2, Col: 3}, {Name: "connections", Value: "0", Line: 3, Col: 3},
		{Name: "max-errors", Value: "-1", Line: 4, Col: 3}, {Name: "threshold", Value: "p99<<1", Line: 5, Col: 3},
		{Name: "threshold", Value: "x.p99<1s", Line: 6, Col: 3}, {Name: "server", Value: "a,b,c", Line: 7, Col: 3}}
	for text, want := range map[string]string{
		"--rate=5/s needs an end: --duration or -r":           "mix.yaml, line 2, column 3: --rate=5/s needs",
		"--rates: there are none":                             "mix.yaml: --rates",
		"-n0: it must be at least 1":                          "mix.yaml, line 3, column 3: -n0",
		"--max-errors=-1: it must be at least 1":              "mix.yaml, line 4, column 3: ",
		`--threshold: "p99<<1" is no condition`:               "mix.yaml, line 5, column 3: ",
		"the condition x.p99<1s: there is no statement x":     "mix.yaml, line 6, column 3: ",
		`server "a,b,c": the port is no number`:               "mix.yaml, line 7, column 3: ",
		"nothing that the file says":                          "mix.yaml: nothing",
		"the stages and --rate and -n do not go together (-)": "mix.yaml, line 2, column 3: ",
	} {
		if got := placed("mix.yaml", file, errors.New(text)).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	var bad *ostress.ArgError
	if err := placedUnless("mix.yaml", file, []string{"--seed=x"}, usagef("--seed=x: write a number")); !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
	if err := placedUnless("mix.yaml", file, []string{"--seed=1"}, usagef("--rate=5/s needs an end")); errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}
