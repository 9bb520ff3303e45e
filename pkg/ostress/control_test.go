package ostress

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sameControl = cmp.Options{cmpopts.IgnoreUnexported(Control{}), cmpopts.IgnoreFields(Control{}, "Path")}

func TestWriteControlReadsBack(t *testing.T) {
	t.Parallel()
	other := DefaultControl()
	other.Connection = ConnectionOptions{LoginTimeout: time.Second, DisconnectPct: 0.125, MaxThreadErrors: 7}
	other.Query.CancelPct, other.Query.CancelDelay, other.Query.CursorType = 33.333, 5*time.Millisecond, "keyset"
	other.Replay.StartSeqNum, other.Replay.TimeoutFactor, other.Replay.DTCTimeout = 4, 0.25, 3*time.Second
	for name, c := range map[string]Control{"defaults": DefaultControl(), "others": other} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := WriteControl(&out, c); err != nil {
				t.Fatal(err)
			}
			got, err := ReadControl("x.ini", out.String())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c, got, sameControl); d != "" {
				t.Errorf("read back (-want +got):\n%s", d)
			}
			if n := strings.Count(out.String(), "\n; "); n != 28 { // the head's second line, and the keys
				t.Errorf("%d comments:\n%s", n, &out)
			}
		})
	}
}

func TestReadControl(t *testing.T) {
	t.Parallel()
	text := "\uFEFF; mine\n[CONNECTION OPTIONS]\n logintimeoutsecs = 5\nQUOTEDIDENTIFIER=no\nAutocommitMode=0\nDisconnectPct=\n" +
		"[Query options]\r\nCancelPct=12.5 ; an eighth\r\nCancelDelay=40\nCancelDelayMin=10\nMaxRetries=3\n# more\nQueryTimeoutSecs=\n" +
		"CursorType=SQL_CURSOR_FORWARD_ONLY\nCursorConcurrency=Read Only\n" +
		"[Replay Options]\nSequencing Options=Global Sequence\nStopSeqNum=9\nTimeoutFactor=2"
	got, err := ReadControl("a.ini", text)
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultControl()
	want.Connection.LoginTimeout, want.Connection.QuotedIdentifier, want.Connection.AutocommitMode = 5*time.Second, false, false
	want.Query.CancelPct, want.Query.CancelDelay, want.Query.CancelDelayMin = 12.5, 40*time.Millisecond, 10*time.Millisecond
	want.Query.MaxRetries, want.Query.CursorType, want.Query.CursorConcurrency = 3, "SQL_CURSOR_FORWARD_ONLY", "Read Only"
	want.Replay.StopSeqNum, want.Replay.TimeoutFactor = 9, 2
	if d := cmp.Diff(want, got, sameControl); d != "" {
		t.Errorf("control (-want +got):\n%s", d)
	}
	if !got.Given("LoginTimeoutSecs") || got.Given("QueryTimeoutSecs") || got.Given("DisconnectPct") || got.Given("RowFetchDelay") {
		t.Error("the wrong keys count as given")
	}
	if w := got.Where("CancelPct"); w != "a.ini, line 8" {
		t.Errorf("CancelPct is at %q", w)
	}
	if d := cmp.Diff([]string{"MaxRetries", "CancelPct", "CancelDelay", "CancelDelayMin", "CursorType", "CursorConcurrency"}, got.Changed(QuerySection)); d != "" {
		t.Errorf("changed keys (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"StopSeqNum", "TimeoutFactor"}, got.Changed(ReplaySection)); d != "" {
		t.Errorf("changed keys (-want +got):\n%s", d)
	}
	none := DefaultControl()
	if none.Given("LoginTimeoutSecs") {
		t.Error("a key is given without a file")
	}
}

func TestReadControlRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"unknown section":    {"[Querry Options]\n", "a.ini, line 1: unknown section [Querry Options]; there are [Connection Options], [Query Options], [Replay Options]"},
		"unknown key":        {"[Query Options]\n\nCancelPercent=1\n", `a.ini, line 3: unknown key "CancelPercent" in section [Query Options]`},
		"wrong section":      {"[Query Options]\nDisconnectPct=1\n", "a.ini, line 2: DisconnectPct belongs to section [Connection Options], not [Query Options]"},
		"before a section":   {"CancelPct=1\n", "a.ini, line 1: a key stands before the first section"},
		"twice":              {"[Query Options]\nCancelPct=1\n[query options]\ncancelpct=\n", "a.ini, line 4: CancelPct stands twice: on line 2 already"},
		"twice, first empty": {"[Query Options]\nCancelPct=\ncancelpct=2\n", "a.ini, line 3: CancelPct stands twice: on line 2 already"},
		"switch":             {"[Query Options]\nPrepareExecute=maybe\n", "a.ini, line 2: PrepareExecute=maybe: write On or Off"},
		"percentage":         {"[Query Options]\nCancelPct=100.5\n", "a.ini, line 2: CancelPct=100.5: write a percentage from 0.00 to 100.00"},
		"not a percentage":   {"[Query Options]\nCancelPct=NaN\n", "write a percentage"},
		"negative":           {"[Query Options]\nQueryDelay=-1\n", "a.ini, line 2: QueryDelay=-1: write a whole number from 0 to 1000000000000"},
		"fraction":           {"[Query Options]\nMaxRetries=1.5\n", "MaxRetries=1.5: write a whole number from 0 to 2147483647"},
		"sequence":           {"[Replay Options]\nStartSeqNum=0\n", "StartSeqNum=0: write a whole number from 1"},
		"factor":             {"[Replay Options]\nTimeoutFactor=0\n", "TimeoutFactor=0: write a number above 0"},
		"cursor":             {"[Query Options]\nCursorType=fast\n", `CursorType=fast: cursor type "fast" is not known: write ForwardOnly,`},
		"concurrency":        {"[Query Options]\nCursorConcurrency=none\n", `CursorConcurrency=none: cursor concurrency "none" is not known`},
		"no entry":           {"[Query Options]\nCancelPct\n", "a.ini, line 2: it is neither [section] nor key=value"},
		"all at once":        {"x\n[Query Options]\nCancelPct=x\n[y]\n", "a.ini, line 1: it is neither [section] nor key=value\na.ini, line 3: CancelPct=x: write a percentage from 0.00 to 100.00\na.ini, line 4: unknown section"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadControl("a.ini", tt.in)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLoadControl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "utf16.ini")
	var b []byte
	for _, c := range "\uFEFF[Query Options]\r\nMaxRetries=2\r\n" {
		b = append(b, byte(c), byte(c>>8))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadControl(path)
	if err != nil || c.Query.MaxRetries != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	missing := filepath.Join(dir, "none.ini")
	if _, err := LoadControl(missing); err == nil || !strings.Contains(err.Error(), "cannot read the control file "+missing) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("[Query Options]\n\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadControl(path); err == nil || !strings.Contains(err.Error(), path+", line 2") {
		t.Error(err)
	}
}

func FuzzReadControl(f *testing.F) {
	var out bytes.Buffer
	if err := WriteControl(&out, DefaultControl()); err != nil {
		f.Fatal(err)
	}
	f.Add(out.String())
	f.Add("[Query Options]\nCancelPct=1e-9\nCancelDelay=99\n[Replay Options]\nTimeoutFactor=0x1p-2\nDTC Machine=a;b")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadControl("f.ini", text)
		if err != nil {
			if !strings.Contains(err.Error(), "f.ini, line ") {
				t.Fatalf("an error without its line: %v", err)
			}
			return
		}
		var out bytes.Buffer
		if err := WriteControl(&out, c); err != nil {
			t.Fatal(err)
		}
		back, err := ReadControl("f.ini", out.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, &out)
		}
		if d := cmp.Diff(c, back, sameControl); d != "" {
			t.Fatalf("read back (-want +got):\n%s", d)
		}
	})
}
