package observe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gostress/pkg/driver"
)

// Engine editions as SERVERPROPERTY('EngineEdition') numbers them.
const (
	editionAzureDB  = 5
	editionFabricDB = 12
)

// facts are what has to be known of a server to ask it more.
type facts struct {
	edition  int64
	version  string // such as 16.0.4165.4
	database string
}

// azure says that views are of a database, not of a server.
func (f facts) azure() bool { return f.edition == editionAzureDB || f.edition == editionFabricDB }

// permission names what a login needs to read the views.
func (f facts) permission() string {
	major, _ := strconv.Atoi(strings.SplitN(f.version, ".", 2)[0])
	switch {
	case f.azure():
		return "VIEW DATABASE PERFORMANCE STATE (or VIEW DATABASE STATE) in the database, or the server role ##MS_ServerStateReader## in an elastic pool and in the tiers Basic, S0 and S1"
	case major >= 16:
		return "VIEW SERVER PERFORMANCE STATE (GRANT VIEW SERVER PERFORMANCE STATE TO ...)"
	}
	return "VIEW SERVER STATE (GRANT VIEW SERVER STATE TO ...)"
}

// probe is a question to the server, and how its answer is read.
type probe struct {
	condition string
	view      string // for messages
	text      string
	value     func(rows [][]any) (value float64, known bool, err error)
}

// minCPUTime is the least time in ms that a share of CPU time is told over: the server's process
// times move in steps of up to 16 ms.
const minCPUTime = 500

// probes are those of the conditions that are asked for, each once.
func probes(f facts, app string, conditions []string) ([]probe, error) {
	var out []probe
	for _, c := range conditions {
		if slices.ContainsFunc(out, func(p probe) bool { return p.condition == c }) {
			continue
		}
		ask, ok := map[string]func(facts, string) probe{
			"blocked_others": probeBlocked, "log_used": probeLog, "server_cpu": probeCPU, "log_send_queue_mb": probeSendQueue,
		}[c]
		if !ok {
			return nil, fmt.Errorf("%s is no condition of a server", c)
		}
		p := ask(f, app)
		p.condition = c
		p.text += " OPTION (MAXDOP 1);\n"
		out = append(out, p)
	}
	return out, nil
}

func probeBlocked(_ facts, app string) probe {
	app = "N'" + strings.ReplaceAll(app, "'", "''") + "'"
	return probe{view: "sys.dm_os_waiting_tasks", text: `SELECT w.session_id, w.blocking_session_id,
 CASE WHEN s.program_name = ` + app + ` THEN 1 ELSE 0 END, CASE WHEN b.program_name = ` + app + ` THEN 1 ELSE 0 END,
 CASE WHEN s.is_user_process = 1 THEN 0 ELSE 1 END, w.wait_type
FROM sys.dm_os_waiting_tasks AS w
LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = w.session_id
LEFT JOIN sys.dm_exec_sessions AS b ON b.session_id = w.blocking_session_id
WHERE w.blocking_session_id <> w.session_id AND w.session_id <> @@SPID`,
		value: func(rows [][]any) (float64, bool, error) {
			edges, err := readEdges(rows)
			return float64(blockedOthers(edges)), true, err
		}}
}

func probeLog(facts, string) probe {
	return probe{view: "sys.dm_db_log_space_usage", text: "SELECT total_log_size_in_bytes, used_log_space_in_bytes FROM sys.dm_db_log_space_usage",
		value: func(rows [][]any) (float64, bool, error) {
			v, err := logUsed(rows)
			return v, true, err
		}}
}

func probeCPU(f facts, _ string) probe {
	if f.azure() {
		return probe{view: "sys.dm_db_resource_stats", text: "SELECT TOP (1) CONVERT(float, avg_cpu_percent) FROM sys.dm_db_resource_stats ORDER BY end_time DESC", value: azureCPU}
	}
	var before cpuTimes
	var last float64
	known := false
	return probe{view: "sys.dm_os_sys_info", text: "SELECT ms_ticks, process_kernel_time_ms, process_user_time_ms, cpu_count FROM sys.dm_os_sys_info",
		value: func(rows [][]any) (float64, bool, error) {
			now, err := readCPU(rows)
			if err != nil {
				return 0, false, err
			}
			v, ok := now.since(before, minCPUTime)
			switch {
			case before == cpuTimes{} || now.restarted(before):
				before, known = now, false
			case ok:
				before, last, known = now, v, true
			}
			return last, known, nil
		}}
}

func probeSendQueue(f facts, _ string) probe {
	view := "sys.dm_hadr_database_replica_states"
	if f.azure() {
		view = "sys.dm_database_replica_states"
	}
	return probe{view: view, text: "SELECT is_local, is_primary_replica, log_send_queue_size FROM " + view + " WHERE database_id = DB_ID()",
		value: func(rows [][]any) (float64, bool, error) {
			replicas, err := readReplicas(rows)
			if err != nil {
				return 0, false, err
			}
			return sendQueue(replicas)
		}}
}

// explain says why a probe cannot be read, and what to do.
func (p probe) explain(f facts, err error) error {
	var e driver.ServerError
	if errors.As(err, &e) {
		switch e.Number {
		case 229, 262, 297, 300, 371:
			return fmt.Errorf("%s: the login may not read %s: it needs %s: %w", p.condition, p.view, f.permission(), err)
		case 208:
			return fmt.Errorf("%s: version %s of the server has no %s: %w", p.condition, f.version, p.view, err)
		}
	}
	return fmt.Errorf("%s: cannot read %s in database %s: %w", p.condition, p.view, f.database, err)
}
