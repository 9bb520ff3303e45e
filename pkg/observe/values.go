package observe

import (
	"fmt"
	"strconv"
)

// The functions here make a condition's value of the rows that its query gave. known false without
// an error says that there is no value at this moment.

// logUsed is of rows with the total and the used size of the log in bytes.
func logUsed(rows [][]any) (percent float64, err error) {
	r, err := numbers(rows, 1, 2)
	if err != nil {
		return 0, err
	}
	if r[0][0] <= 0 {
		return 0, fmt.Errorf("the server says that the database has a log of no size")
	}
	return r[0][1] / r[0][0] * 100, nil
}

// cpuTimes are the CPU times of a server's process.
type cpuTimes struct {
	ticks float64 // the server's clock, ms
	busy  float64 // kernel and user time, ms
	cpus  float64
}

// readCPU is of rows with ms_ticks, kernel and user time in ms, and the number of CPUs.
func readCPU(rows [][]any) (cpuTimes, error) {
	r, err := numbers(rows, 1, 4)
	if err != nil {
		return cpuTimes{}, err
	}
	if r[0][3] < 1 {
		return cpuTimes{}, fmt.Errorf("the server says that it has %v CPUs", r[0][3])
	}
	return cpuTimes{ticks: r[0][0], busy: r[0][1] + r[0][2], cpus: r[0][3]}, nil
}

// since is how much of its CPUs the process used between two readings, in per cent. There is no
// value over less than least ms, nor when the process was started anew in between.
func (t cpuTimes) since(before cpuTimes, least float64) (percent float64, known bool) {
	passed, busy := t.ticks-before.ticks, t.busy-before.busy
	if passed < max(least, 1) || busy < 0 || t.cpus != before.cpus {
		return 0, false
	}
	return busy / (passed * t.cpus) * 100, true
}

// restarted says that t is of another process than before: its times are smaller, or it has
// other CPUs.
func (t cpuTimes) restarted(before cpuTimes) bool {
	return t.ticks < before.ticks || t.busy < before.busy || t.cpus != before.cpus
}

// azureCPU is of the last row of sys.dm_db_resource_stats, which has one for 15 s.
func azureCPU(rows [][]any) (percent float64, known bool, err error) {
	if len(rows) == 0 {
		return 0, false, nil
	}
	r, err := numbers(rows, 1, 1)
	if err != nil {
		return 0, false, err
	}
	return r[0][0], true, nil
}

// replica is a row about a database in an availability group.
type replica struct {
	local, primary bool
	queueKB        any // nil when the primary does not know it
}

func readReplicas(rows [][]any) ([]replica, error) {
	var out []replica
	for _, r := range rows {
		if len(r) != 3 {
			return nil, fmt.Errorf("the server sent %d columns where 3 are expected", len(r))
		}
		rep := replica{queueKB: r[2]}
		for i, to := range []*bool{&rep.local, &rep.primary} {
			n, err := float(r[i])
			if err != nil {
				return nil, err
			}
			*to = n != 0
		}
		out = append(out, rep)
	}
	return out, nil
}

// sendQueue is the log that the secondary which is most behind has not been sent, in MB, and 0
// when the database is in no availability group. There is no value while no secondary is connected.
func sendQueue(replicas []replica) (mb float64, known bool, err error) {
	known = true
	for _, r := range replicas {
		if r.local {
			if !r.primary {
				return 0, false, fmt.Errorf("this server is a secondary replica of the database, and the primary alone knows what it has not sent")
			}
			continue
		}
		if r.queueKB == nil {
			known = false
			continue
		}
		kb, err := float(r.queueKB)
		if err != nil {
			return 0, false, err
		}
		mb = max(mb, kb/1024)
	}
	// What is known of one secondary is a lower bound, though another's is not.
	return mb, known || mb > 0, nil
}

// readEdges is of rows with the columns of edge in its order.
func readEdges(rows [][]any) ([]edge, error) {
	var out []edge
	for _, r := range rows {
		if len(r) != 6 {
			return nil, fmt.Errorf("the server sent %d columns where 6 are expected", len(r))
		}
		n, err := numbers([][]any{r[:5]}, 1, 5)
		if err != nil {
			return nil, err
		}
		out = append(out, edge{waiter: int64(n[0][0]), blocker: int64(n[0][1]), waiterOurs: n[0][2] != 0, blockerOurs: n[0][3] != 0, waiterSystem: n[0][4] != 0, kind: str(r[5])})
	}
	return out, nil
}

// numbers reads rows of numbers.
func numbers(rows [][]any, height, width int) ([][]float64, error) {
	if len(rows) != height {
		return nil, fmt.Errorf("the server sent %d rows where %d is expected", len(rows), height)
	}
	out := make([][]float64, len(rows))
	for i, r := range rows {
		if len(r) != width {
			return nil, fmt.Errorf("the server sent %d columns where %d are expected", len(r), width)
		}
		for _, v := range r {
			f, err := float(v)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], f)
		}
	}
	return out, nil
}

// float reads a number as a session may give it.
func float(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case float32:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case int32:
		return float64(v), nil
	case int16:
		return float64(v), nil
	case uint8:
		return float64(v), nil
	case int:
		return float64(v), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		return strconv.ParseFloat(v, 64)
	case []byte:
		return strconv.ParseFloat(string(v), 64)
	case nil:
		return 0, fmt.Errorf("the server sent NULL where a number is expected")
	}
	return 0, fmt.Errorf("the server sent a %T where a number is expected", v)
}

// str reads a string or NULL as a session may give it.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}
