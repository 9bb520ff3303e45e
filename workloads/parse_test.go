package workloads

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/parser"
)

// TestScriptsParse holds every batch of every script to a grammar that the embedded engine reads too.
func TestScriptsParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	goLine := regexp.MustCompile(`(?m)^GO[ \t]*$`)
	token := regexp.MustCompile(`\$\(gs_[a-z_]+\)`)
	values := map[string]string{"$(gs_form)": "inmem", "$(gs_hint)": "WITH (SNAPSHOT)", "$(gs_header)": "Demo.h", "$(gs_detail)": "Demo.d"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, batch := range goLine.Split(string(text), -1) {
			batch = token.ReplaceAllStringFunc(batch, func(s string) string {
				if v, ok := values[s]; ok {
					return v
				}
				return "1024"
			})
			if strings.TrimSpace(batch) == "" {
				continue
			}
			script, err := parser.Parse(context.Background(), strings.NewReader(batch))
			if err != nil {
				t.Errorf("%s batch %d: %v\n%s", file, i+1, err, batch)
				continue
			}
			if len(script.Batches) != 1 {
				t.Errorf("%s batch %d: parsed as %d batches", file, i+1, len(script.Batches))
			}
		}
	}
}
