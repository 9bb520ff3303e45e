package target

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// TestPause: a pause stands behind each row, and ends with the context or the
// session.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPause(20 * time.Millisecond)
		l := &log{}
		ctx, cancel := context.WithCancel(context.Background())
		s := p.behind(ctx, l)
		start := time.Now()
		for i := range 5 {
			if err := s.Row([]any{int64(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 100*time.Millisecond || len(l.rows) != 5 {
			t.Errorf("%d rows took %s", len(l.rows), d)
		}
		if err := s.Event(driver.SinkEvent{Kind: driver.SinkDone}); err != nil || len(l.lines) != 6 {
			t.Errorf("got %v, %q", err, l.lines)
		}
		time.AfterFunc(5*time.Millisecond, cancel)
		start = time.Now()
		for range 1000 {
			if err := s.Row(nil); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 5*time.Millisecond {
			t.Errorf("the rows behind the cancel took %s", d)
		}
		s = p.behind(context.Background(), nil)
		time.AfterFunc(5*time.Millisecond, p.end)
		start = time.Now()
		for range 1000 {
			if err := s.Row(nil); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 5*time.Millisecond {
			t.Errorf("the rows behind the end took %s", d)
		}
		l.fail = errors.New("full")
		if err := p.behind(context.Background(), l).Row(nil); !errors.Is(err, l.fail) {
			t.Errorf("got %v", err)
		}
	})
}

// TestFetchDelayIsFelt: while the pause lasts nothing is read, so that a server
// with many rows has to wait for the network.
func TestFetchDelayIsFelt(t *testing.T) { overWires(t, testFetchDelayIsFelt) }

func testFetchDelayIsFelt(t *testing.T, w Wire) {
	const packets = 16 << 10 // of 4 KB each: more than the buffers of any socket
	var written, stop atomic.Bool
	f := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		p.batch()
		text := tds.TypeInfo{ID: tds.TypeVarChar, Size: 8000, Collation: tds.DefaultCollation}
		p.part(tds.AppendColMetadata(nil, tds.V74, []tds.Column{{Name: "a", Type: text}}))
		row := tds.AppendBytes([]byte{byte(tds.TokenRow)}, &text, make([]byte, 4000))
		packet := append(tds.Header{Type: tds.PacketResponse, Length: 8 + len(row), ID: 1}.Append(nil), row...)
		var wg sync.WaitGroup
		wg.Go(func() {
			for range packets {
				if stop.Load() {
					return
				}
				if _, err := p.rw.Write(packet); err != nil {
					return
				}
			}
			written.Store(true)
		})
		_, err := p.rd.ReadMessage(p.rw) // the attention
		stop.Store(true)
		wg.Wait()
		if err == nil {
			p.send(doneCount(tds.DoneError, cmdSelect, packets))
			p.send(done(tds.DoneAttn))
			p.wait()
		}
	})
	o := options(w, f)
	o.FetchDelay = time.Hour
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, func() {
		if written.Load() {
			t.Error("the whole answer was taken in the first pause")
		}
		cancel()
	})
	out, err := do(t, s, ctx, text("select"), nil)
	if !errors.Is(err, context.Canceled) || out.Rows < 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestCloseEndsPause: closing the session does not wait for the end of a pause.
func TestCloseEndsPause(t *testing.T) { overWires(t, testCloseEndsPause) }

func testCloseEndsPause(t *testing.T, w Wire) {
	f := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		p.batch()
		p.part(intColumns(1), intRow(1))
		p.wait()
	})
	o := options(w, f)
	o.FetchDelay = time.Hour
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = do(t, s, context.Background(), text("select"), rowFunc(func() error {
		go s.Close()
		return nil
	}))
	var lost *driver.LostError
	if !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
}

// TestDescribeMode: what a session does with requests is told with the rest.
func TestDescribeMode(t *testing.T) { overWires(t, testDescribeMode) }

func testDescribeMode(t *testing.T, w Wire) {
	f := serve(t, func(p *peer) {
		p.accept(tds.EncryptNotSupported)
		p.wait()
	})
	o := options(w, f)
	o.FetchDelay = 5 * time.Millisecond
	o.Cursor = Cursor{CursorKeyset, ConcurrencyLock}
	s, err := connectTo(t, o)
	if err != nil {
		t.Fatal(err)
	}
	got := s.(interface{ Describe() string }).Describe()
	want := "Microsoft SQL Server 15.0.2000, TDS 7.4, encryption none, packet size 4096, login sa (SQL Server login), wire " + string(w) +
		", cursor keyset, lock, 5ms behind each row"
	if got != want {
		t.Errorf("got %q\nnot %q", got, want)
	}
}
