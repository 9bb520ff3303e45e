package tdsclient_test

import (
	"context"
	"net"
	"runtime/metrics"
	"testing"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

func hundredRows() []byte {
	cols := make([]tds.Column, 10)
	for i := range cols {
		cols[i] = tds.Column{Name: "c", Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}
		if i%2 == 0 {
			cols[i].Type = tds.TypeInfo{ID: tds.TypeNVarChar, Size: 40, Collation: tds.DefaultCollation}
		}
	}
	b := tds.AppendColMetadata(nil, tds.V74, cols)
	for r := range 100 {
		b = append(b, byte(tds.TokenRow))
		for i := range cols {
			if i%2 == 0 {
				b = tds.AppendString(b, &cols[i].Type, "some text")
			} else {
				b = tds.AppendInt(b, &cols[i].Type, int64(r))
			}
		}
	}
	return tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone, Status: tds.DoneCount, Cmd: 0xC1, Count: 100})
}

func orderAnswer() []byte {
	out := tds.ReturnValue{Status: 1, Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}
	b := tds.AppendReturnStatus(nil, 0)
	b = tds.AppendInt(tds.AppendReturnValue(b, tds.V74, &out), &out.Type, 99)
	return tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDoneProc, Cmd: 0xE0})
}

// A call allocates nothing, takes one write and one read, and starts no goroutine and no timer.
func TestCosts(t *testing.T) {
	done := tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone})
	rows := hundredRows()
	var cuts []int
	for i := 4088; i < len(rows); i += 4088 {
		cuts = append(cuts, i)
	}
	tran := tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvBeginTran, NewBytes: make([]byte, 8)})
	call := order(t)
	tables := []*tdsclient.Table{orderLines(t, 1), orderLines(t, 2)}
	values := []any{int64(100000), int64(200000)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, tc := range []struct {
		name   string
		r      *tdsclient.Request
		change func(i int) error
		answer []byte
		ctx    context.Context
		rows   int64
		reads  int
	}{
		{name: "batch", r: tdsclient.Batch("EXEC p"), answer: packets(done), ctx: context.Background(), reads: 1},
		{name: "batch that can be cancelled", r: tdsclient.Batch("EXEC p"), answer: packets(done), ctx: ctx, reads: 1},
		{name: "transaction", r: tdsclient.Batch("EXEC p"), answer: packets(append(tran, done...)), ctx: ctx, reads: 1},
		{name: "order", r: call, answer: packets(orderAnswer()), ctx: ctx, reads: 1, change: func(i int) error {
			for k := 2; k < 6; k++ {
				if err := call.Set(k, values[i%2]); err != nil {
					return err
				}
			}
			return call.Set(6, tables[i%2])
		}},
		{name: "rows", r: tdsclient.Batch("SELECT"), answer: packets(rows, cuts...), ctx: ctx, rows: 100, reads: 1},
	} {
		peer := &canned{answer: tc.answer}
		c := client(peer)
		i := 0
		do := func() {
			if i++; tc.change != nil {
				if err := tc.change(i); err != nil {
					t.Fatal(err)
				}
			}
			out, err := c.Do(tc.ctx, tc.r, nil)
			if err != nil || out.Rows != tc.rows {
				t.Fatalf("%s: %+v, %v", tc.name, out, err)
			}
		}
		do()
		peer.reads, peer.writes = 0, 0
		created := goroutines()
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: %v allocations a call", tc.name, n)
		}
		if n := goroutines() - created; n != 0 {
			t.Errorf("%s: %d goroutines for 101 calls", tc.name, n)
		}
		if peer.deadlines != 0 {
			t.Errorf("%s: %d deadlines were set", tc.name, peer.deadlines)
		}
		if r, w := float64(peer.reads)/101, float64(peer.writes)/101; w != 1 || r > float64(tc.reads) {
			t.Errorf("%s: %v writes and %v reads a call, want 1 and %d", tc.name, w, r, tc.reads)
		}
		_ = c.Close()
	}
}

// goroutines is how many were ever started.
func goroutines() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// The same over the engine and a socket, where go-mssqldb logged in.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	var count *counting
	c, _ := login(t, serve(t), tds.EncryptNotSupported, 0, func(nc net.Conn) net.Conn {
		count = &counting{Conn: nc}
		return count
	})
	run(t, c, "SELECT 1")
	r := tdsclient.Batch("SELECT 1")
	count.reads, count.writes, count.bytes = 0, 0, 0
	for range 50 {
		if out, err := c.Do(context.Background(), r, nil); err != nil || out.Rows != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if count.reads != 50 || count.writes != 50 || count.bytes != 50*r.Len(c.PacketSize()) {
		t.Errorf("%d reads, %d writes and %d bytes for 50 calls of %d bytes", count.reads, count.writes, count.bytes, r.Len(c.PacketSize()))
	}
}

func BenchmarkDo(b *testing.B) {
	done := tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone})
	rows := hundredRows()
	for _, bc := range []struct {
		name   string
		answer []byte
	}{
		{"Batch", packets(done)}, {"HundredRows", packets(rows, 4088)},
	} {
		b.Run(bc.name, func(b *testing.B) {
			c := client(&canned{answer: bc.answer})
			r := tdsclient.Batch(string(make([]byte, 1200)))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Do(ctx, r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	c := client(&canned{answer: packets(orderAnswer())})
	r := order(b)
	tables := []*tdsclient.Table{orderLines(b, 1), orderLines(b, 2)}
	v := any(int64(12345))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for k := 2; k < 6; k++ {
			_ = r.Set(k, v)
		}
		_ = r.Set(6, tables[i%2])
		if _, err := c.Do(context.Background(), r, nil); err != nil {
			b.Fatal(err)
		}
	}
}
