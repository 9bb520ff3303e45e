package target

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"gostress/internal/clock"
	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// orderBatch is about as long as the batch of the sample workload.
func orderBatch() string {
	var b strings.Builder
	b.WriteString("DECLARE @i int = 0, @od SalesLT.SalesOrderDetailType_inmem, @SalesOrderID int, @DueDate datetime2 = sysdatetime(), @CustomerID int = rand() * 8000, @BillToAddressID int = rand() * 10000;\n")
	for b.Len() < 1200 {
		b.WriteString("INSERT INTO @od SELECT OrderQty, ProductID, SpecialOfferID FROM Demo.DemoSalesOrderDetailSeed;\n")
	}
	return b.String()
}

// The kinds of server that a child process runs for the benchmarks, so that
// memory and CPU time are the client's alone.
const childVar = "GOSTRESS_TARGET_BENCHMARK"

// TestBenchmarkServer is the child process: it answers whatever it is sent with
// DONE, at once, until its input ends.
func TestBenchmarkServer(t *testing.T) {
	kind := os.Getenv(childVar)
	if kind == "" {
		t.Skip("it serves the benchmarks")
	}
	d := done(0)
	reply := append(tds.Header{Type: tds.PacketResponse, Status: 1, Length: 8 + len(d), ID: 1}.Append(nil), d...)
	cert := newCert(t)
	f := serve(t, func(p *peer) {
		p.cert = cert.tls
		if kind == "TLS" {
			p.accept(tds.EncryptOn)
		} else {
			p.accept(tds.EncryptNotSupported)
		}
		buf := make([]byte, 4096)
		for {
			if _, err := io.ReadFull(p.rw, buf[:8]); err != nil {
				return
			}
			last := buf[1]&1 != 0
			if _, err := io.ReadFull(p.rw, buf[:int(buf[2])<<8+int(buf[3])-8]); err != nil {
				return
			}
			if last {
				p.bytes(reply)
			}
		}
	})
	fmt.Println(f.addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// benchmarkServer starts the child.
func benchmarkServer(b *testing.B, kind string) Options {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBenchmarkServer$")
	cmd.Env = append(os.Environ(), childVar+"="+kind)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	o := options(WireMSSQL, &fake{addr: strings.TrimSpace(addr)})
	if kind == "TLS" {
		o.Encrypt, o.TrustServerCertificate = EncryptMandatory, true
	}
	return o
}

func BenchmarkDo(b *testing.B) {
	table := &driver.Table{Schema: "Sales", Name: "Detail", Columns: []driver.SQLType{{Name: "smallint"}, {Name: "int"}, {Name: "int"}}}
	for i := range int64(5) {
		table.Rows = append(table.Rows, []any{i, i, i})
	}
	order := &driver.Request{Kind: driver.RPC, Proc: "Sales.usp_InsertSalesOrder_inmem", Params: []driver.Param{
		{Type: driver.SQLType{Name: "int"}, Output: true}, {Type: driver.SQLType{Name: "int"}, Value: int64(1)},
		{Type: driver.SQLType{Name: "int"}, Value: int64(2)}, {Value: table},
	}}
	for _, bb := range []struct {
		name, kind string
		r          *driver.Request
	}{
		{"batch/clear", "clear", text(orderBatch())},
		{"batch/TLS", "TLS", text(orderBatch())},
		{"TVP/clear", "clear", order},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := connectTo(b, benchmarkServer(b, bb.kind))
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				if _, err := s.Do(ctx, bb.r, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkFloor sends the same batch, built once, on the bare socket of a session.
func BenchmarkFloor(b *testing.B) {
	s, err := connectTo(b, benchmarkServer(b, "clear"))
	if err != nil {
		b.Fatal(err)
	}
	wire := s.(*session).wire
	body := tds.AppendUTF16(tds.AppendHeaders(nil, tds.V74, 0), orderBatch())
	packet := append(tds.Header{Type: tds.PacketSQLBatch, Status: 1, Length: 8 + len(body), ID: 1}.Append(nil), body...)
	answer := make([]byte, 8+len(done(0)))
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		if _, err := wire.Write(packet); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(wire, answer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpu is the process's own CPU time.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	used, err := clock.ProcessCPU()
	if err != nil {
		b.Fatal(err)
	}
	return used.Total()
}

// BenchmarkRows reads result sets of one row.
func BenchmarkRows(b *testing.B) {
	s := open(b, WireMSSQL, func(p *peer) {
		for {
			p.batch()
			p.send(intColumns(1), intRow(1), doneCount(0, cmdSelect, 1))
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Do(context.Background(), text("select 1"), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle gives the memory of a connection that has carried out a request
// and waits for the next.
func BenchmarkIdle(b *testing.B) {
	const n = 1000
	for _, kind := range []string{"clear", "TLS"} {
		b.Run(kind, func(b *testing.B) {
			o := benchmarkServer(b, kind)
			tg, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			r := text(orderBatch())
			sessions := make([]driver.Session, 0, n)
			for range 10 { // what the first connections alone take
				s, err := tg.Connect(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
			}
			for b.Loop() {
				for _, s := range sessions {
					_ = s.Close()
				}
				sessions = sessions[:0]
				before, rss := memory()
				for range n {
					s, err := tg.Connect(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					sessions = append(sessions, s)
					if _, err := s.Do(context.Background(), r, nil); err != nil {
						b.Fatal(err)
					}
				}
				after, rssAfter := memory()
				b.ReportMetric(float64(after-before)/n, "heap-B/conn")
				if rss > 0 {
					b.ReportMetric(float64(rssAfter-rss)/n, "resident-B/conn")
				}
			}
			for _, s := range sessions {
				_ = s.Close()
			}
		})
	}
}

// memory is what is in use: of the heap and of the stacks, and the resident set
// where it can be told.
func memory() (inUse, resident int64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
		_, _ = fmt.Sscan(rest, &resident)
	}
	return int64(m.HeapAlloc + m.StackInuse), resident * 1024
}
