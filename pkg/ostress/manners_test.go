package ostress

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gostress/pkg/driver"
)

func TestMannersOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Manners{
		"ostress": AsOstress, "/usr/bin/ostress": AsOstress, `C:\RML\OSTRESS.EXE`: AsOstress, "./OStress": AsOstress,
		"gostress": AsGostress, "ostress2": AsGostress, "/ostress/gostress": AsGostress, "": AsGostress, "ostress.exe.old": AsGostress,
	} {
		if got := MannersOf(path); got != want {
			t.Errorf("MannersOf(%q) = %d, want %d", path, got, want)
		}
	}
}

func TestLogMinds(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]Manners{"gostress": AsGostress, "ostress": AsOstress} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, console := testLog()
			l.Manners = m
			var file bytes.Buffer
			l.Note("early")
			l.Attach(&file)
			l.Note("late %d", 1)
			l.Own("summary\n")
			l.Line("Starting")
			e := Events{Log: l}
			e.Event(driver.Event{Kind: driver.Stopping, Worker: -1, Err: errors.New("why")})
			e.Event(driver.Event{Kind: driver.Stopping, Worker: -1, Err: errors.Join(driver.ErrNoConnection, errors.New("told"))})
			for _, want := range []string{"] NOTE: early\n", "] NOTE: late 1\n", "summary\n", "] Starting\n", "] Stopping: why\n"} {
				if !strings.Contains(file.String(), want) {
					t.Errorf("the file lacks %q:\n%s", want, &file)
				}
				own := want != "] Starting\n"
				if has := strings.Contains(console.String(), want); has == (own && m == AsOstress) {
					t.Errorf("console, %q: %v:\n%s", want, has, console)
				}
			}
			if strings.Contains(file.String(), "told") {
				t.Errorf("a connect failure is said again:\n%s", &file)
			}
		})
	}
}
