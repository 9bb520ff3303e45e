package tsql

import (
	"os"
	"strings"
	"testing"
)

type corpusCase struct{ name, args, text string }

// readCorpus reads cases that begin with a line "### name" or "### name: args".
func readCorpus(t testing.TB, file string) []corpusCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []corpusCase
	for _, part := range strings.Split("\n"+string(data), "\n### ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		name, args, _ := strings.Cut(head, ": ")
		cases = append(cases, corpusCase{name, args, strings.TrimRight(text, "\n")})
	}
	return cases
}
