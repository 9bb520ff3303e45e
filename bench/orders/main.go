// Orders measures the order workload against the embedded engine, in both modes
// and over both wires: orders a second and the client's CPU for an order. Engine
// and client are processes of their own on the same machine; the runs are
// interleaved, and the medians printed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"gostress/pkg/result"
)

type options struct {
	rounds, connections, iterations int
}

// one is what is measured in turn.
type one struct{ part, mode, wire string }

type figures struct{ ordersPerS, cpuUS, p50, p99 []float64 }

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 5, "how often each run has its turn")
	flag.IntVar(&o.connections, "n", 16, "connections")
	flag.IntVar(&o.iterations, "r", 50, "iterations of each connection, of 20 orders each")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	dir, err := os.MkdirTemp("", "gostress-orders-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "gostress")
	if out, err := exec.Command("go", "build", "-o", bin, "gostress/cmd/gostress").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	const password = "orders"
	serve := exec.Command(bin, "serve", "--listen=127.0.0.1:0")
	serve.Env = append(os.Environ(), "GOSTRESS_SERVE_PASSWORD="+password)
	stdout, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	port, found := strings.CutPrefix(strings.TrimSpace(line), "listening on 127.0.0.1:")
	if err != nil || !found {
		return fmt.Errorf("the engine did not start: %q, %v", line, err)
	}
	call := func(args ...string) error {
		cmd := exec.Command(bin, append(args, "-S127.0.0.1,"+port, "-Usa", "-dOrders")...)
		cmd.Env = append(os.Environ(), "SQLCMDPASSWORD="+password)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("gostress %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := call("workload", "install", "inmem-oltp"); err != nil {
		return err
	}
	var all []one
	for _, part := range []string{"inmem", "ondisk"} {
		for _, mode := range []string{"batch", "tvp"} {
			for _, wire := range []string{"tds", "go-mssqldb"} {
				all = append(all, one{part, mode, wire})
			}
		}
	}
	got := map[one]*figures{}
	for range o.rounds {
		for _, m := range all {
			if err := call("workload", "reset", "inmem-oltp"); err != nil {
				return err
			}
			file := filepath.Join(dir, "run.json")
			err := call("--workload=inmem-oltp/"+m.part, "--mode="+m.mode, "--wire="+m.wire, "-q", "-o"+filepath.Join(dir, "out"), "--json="+file,
				fmt.Sprintf("-n%d", o.connections), fmt.Sprintf("-r%d", o.iterations))
			if err != nil {
				return err
			}
			if got[m] == nil {
				got[m] = &figures{}
			}
			if err := got[m].add(file, o); err != nil {
				return err
			}
		}
	}
	return table(o, all, got)
}

func (f *figures) add(file string, o options) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r result.Run
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	if want := int64(o.connections) * int64(o.iterations); r.Iterations != want || r.RunS <= 0 {
		return errors.New("a run did not complete all of its iterations")
	}
	orders := float64(r.Iterations) * 20
	f.ordersPerS = append(f.ordersPerS, orders/r.RunS)
	f.cpuUS = append(f.cpuUS, (r.CPUUserS+r.CPUSystemS)*1e6/orders)
	f.p50 = append(f.p50, r.Latency.Batch.P50US)
	f.p99 = append(f.p99, r.Latency.Batch.P99US)
	return nil
}

func table(o options, all []one, got map[one]*figures) error {
	fmt.Printf("%d connections x %d iterations x 20 orders, medians of %d runs\n", o.connections, o.iterations, o.rounds)
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "tables\tmode\twire\torders/s\tclient CPU us/order\trequest p50 us\trequest p99 us\t")
	for _, m := range all {
		f := got[m]
		fmt.Fprintf(w, "_%s\t%s\t%s\t%.0f\t%.2f\t%.0f\t%.0f\t\n", m.part, m.mode, m.wire, median(f.ordersPerS), median(f.cpuUS), median(f.p50), median(f.p99))
	}
	return w.Flush()
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
