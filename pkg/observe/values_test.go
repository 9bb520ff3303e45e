package observe

import (
	"math"
	"strings"
	"testing"
)

func TestBlockedOthers(t *testing.T) {
	t.Parallel()
	// Sessions 60 to 69 are ours, those below 50 the server's own.
	ours := func(n int64) bool { return n >= 60 && n < 70 }
	wait := func(waiter, blocker int64, kind string) edge {
		return edge{waiter: waiter, blocker: blocker, waiterOurs: ours(waiter), blockerOurs: ours(blocker), waiterSystem: waiter < 50, kind: kind}
	}
	lock := func(waiter, blocker int64) edge { return wait(waiter, blocker, "LCK_M_X") }
	for name, c := range map[string]struct {
		edges []edge
		want  int
	}{
		"nobody waits":                   {nil, 0},
		"ours behind ours":               {[]edge{lock(61, 60), lock(62, 61), lock(63, 60)}, 0},
		"other behind ours":              {[]edge{lock(80, 60)}, 1},
		"others behind each other":       {[]edge{lock(81, 80), lock(82, 81)}, 0},
		"ours behind another":            {[]edge{lock(60, 80)}, 0},
		"chain of others behind ours":    {[]edge{lock(82, 81), lock(81, 80), lock(80, 60)}, 3},
		"through ours, another's head":   {[]edge{lock(80, 60), lock(60, 90)}, 1},
		"two chains":                     {[]edge{lock(80, 60), lock(81, 61), lock(82, 90)}, 2},
		"a deadlock of others":           {[]edge{lock(80, 81), lock(81, 80)}, 0},
		"a deadlock with ours":           {[]edge{lock(80, 60), lock(60, 80)}, 1},
		"parallel: tasks of one session": {[]edge{wait(80, 80, "CXPACKET"), wait(80, 80, "CXPACKET"), lock(80, 60), lock(80, 61)}, 1},
		"latches":                        {[]edge{wait(80, 60, "PAGELATCH_EX"), wait(81, 60, "LATCH_EX"), wait(82, 60, "PAGEIOLATCH_SH")}, 0},
		"orphaned, and unknown owners":   {[]edge{lock(80, -2), lock(81, -3), wait(82, -4, "PAGELATCH_UP")}, 0},
		"a task of the server's":         {[]edge{lock(30, 60)}, 0},
		"other behind the server's task": {[]edge{lock(80, 30), lock(30, 60)}, 1},
	} {
		if got := blockedOthers(c.edges); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The rows below have the shape in which sessions of either wire give them.

func TestBlockedRows(t *testing.T) {
	t.Parallel()
	rows := [][]any{
		{int64(71), int64(58), int64(0), int64(1), int64(0), "LCK_M_S"},
		{int16(74), int16(71), int32(0), int32(0), int32(0), []byte("LCK_M_IX")},
		{int64(59), int64(58), int64(1), int64(1), int64(0), "LCK_M_U"},
	}
	edges, err := readEdges(rows)
	if err != nil || blockedOthers(edges) != 2 {
		t.Errorf("%+v, %v", edges, err)
	}
	for _, bad := range [][]any{{int64(1)}, {int64(1), nil, int64(0), int64(0), int64(0), "x"}} {
		if _, err := readEdges([][]any{bad}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestLogUsed(t *testing.T) {
	t.Parallel()
	if v, err := logUsed([][]any{{int64(8_380_416), int64(2_095_104)}}); err != nil || v != 25 {
		t.Errorf("%v, %v", v, err)
	}
	for name, rows := range map[string][][]any{"none": nil, "no size": {{int64(0), int64(0)}}, "NULL": {{nil, nil}}, "columns": {{int64(1)}}} {
		if _, err := logUsed(rows); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestServerCPU(t *testing.T) {
	t.Parallel()
	p := probeCPU(facts{version: "15.0.2000.5", edition: 3}, "")
	for i, c := range []struct {
		ticks, kernel, user int64
		cpus                int64
		want                float64
		known               bool
	}{
		{ticks: 1_000_000, kernel: 52_000, user: 403_500, cpus: 8},                         // the first has nothing to compare with
		{ticks: 1_000_400, kernel: 52_100, user: 404_000, cpus: 8},                         // too soon
		{ticks: 1_001_000, kernel: 52_500, user: 405_000, cpus: 8, want: 25, known: true},  // 2 s of 8
		{ticks: 1_001_100, kernel: 52_500, user: 405_800, cpus: 8, want: 25, known: true},  // too soon: as it was
		{ticks: 1_002_000, kernel: 53_300, user: 412_200, cpus: 8, want: 100, known: true}, // all of it
		{ticks: 9_000, kernel: 300, user: 900, cpus: 8},                                    // started anew
		{ticks: 10_000, kernel: 300, user: 900, cpus: 8, want: 0, known: true},             // idle
		{ticks: 11_000, kernel: 300, user: 1_300, cpus: 4},                                 // other CPUs
		{ticks: 12_000, kernel: 400, user: 2_200, cpus: 4, want: 25, known: true},          // and from then on
		{ticks: 11_999, kernel: 400, user: 2_300, cpus: 4},                                 // the clock went back: another server
		{ticks: 13_999, kernel: 2_000, user: 4_700, cpus: 4, want: 50, known: true},        // over two seconds
	} {
		v, known, err := p.value([][]any{{c.ticks, c.kernel, c.user, c.cpus}})
		if err != nil || known != c.known || known && math.Abs(v-c.want) > 1e-9 {
			t.Errorf("sample %d: %v %v %v", i, v, known, err)
		}
	}
	if _, _, err := p.value([][]any{{int64(1), nil, nil, int64(8)}}); err == nil {
		t.Error("NULL is taken for a time")
	}
	azure := probeCPU(facts{edition: editionAzureDB}, "")
	if !strings.Contains(azure.text, "sys.dm_db_resource_stats") {
		t.Error(azure.text)
	}
	if v, known, err := azure.value([][]any{{41.25}}); v != 41.25 || !known || err != nil {
		t.Errorf("%v %v %v", v, known, err)
	}
	if _, known, err := azure.value(nil); known || err != nil {
		t.Errorf("%v %v", known, err)
	}
}

func TestSendQueue(t *testing.T) {
	t.Parallel()
	p := probeSendQueue(facts{}, "")
	primary := []any{true, true, nil}
	for name, c := range map[string]struct {
		rows  [][]any
		want  float64
		known bool
		err   string
	}{
		"no availability group": {nil, 0, true, ""},
		"two secondaries":       {[][]any{primary, {false, false, int64(2048)}, {false, false, int64(512)}}, 2, true, ""},
		"nothing to send":       {[][]any{primary, {false, false, int64(0)}}, 0, true, ""},
		"one is not connected":  {[][]any{primary, {false, false, nil}, {false, false, int64(1024)}}, 1, true, ""},
		"none is connected":     {[][]any{primary, {false, false, nil}}, 0, false, ""},
		"on a secondary":        {[][]any{{int64(1), int64(0), nil}}, 0, false, "secondary replica"},
		"columns":               {[][]any{{true}}, 0, false, "1 columns"},
	} {
		v, known, err := p.value(c.rows)
		if v != c.want || known != c.known || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v %v %v", name, v, known, err)
		}
	}
}
