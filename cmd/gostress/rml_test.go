package main

import (
	"os"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
)

// toUTF16 is "utf16 le|be FILE OUT [bom]".
func toUTF16(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: utf16 le|be file out [bom]")
	}
	text := ts.ReadFile(args[1])
	if len(args) == 4 {
		text = "\ufeff" + text
	}
	var out []byte
	for _, c := range utf16.Encode([]rune(text)) {
		if args[0] == "be" {
			out = append(out, byte(c>>8), byte(c))
		} else {
			out = append(out, byte(c), byte(c>>8))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out, 0o600))
}
