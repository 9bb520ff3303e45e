package dmv

import (
	"runtime"
	"time"

	"gostress/internal/engine/catalog"
)

// process tells what the operating system says of this process and the machine;
// what it does not say is nil.
type process struct {
	kernel, user  any // ms of CPU time
	physicalBytes any // of the machine
	kernelRelease string
}

// maxWorkers is what max_workers_count shows: requests run on goroutines, so that
// only the number of connections bounds them.
const maxWorkers = 32767

func serverViews() []def {
	return []def{
		{"sys.dm_os_sys_info", []string{
			"ms_ticks bigint", "cpu_count int", "hyperthread_ratio int", "physical_memory_kb bigint null", "virtual_memory_kb bigint null",
			"committed_kb bigint", "committed_target_kb bigint null", "max_workers_count int", "scheduler_count int",
			"sqlserver_start_time_ms_ticks bigint", "sqlserver_start_time datetime", "process_kernel_time_ms bigint null",
			"process_user_time_ms bigint null", "virtual_machine_type int", "virtual_machine_type_desc nvarchar(60)",
		}, func(q catalog.SystemQuery, add adder) error {
			p := thisProcess()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			var total int64
			for _, db := range q.Instance.Databases() {
				xtp, disk := memory(db)
				total += xtp + disk
			}
			physical := p.physicalBytes
			if n, ok := physical.(int64); ok {
				physical = n / 1024
			}
			up := q.Instance.Now().Sub(q.Instance.Started())
			return add(int64(up/time.Millisecond), runtime.NumCPU(), 1, physical, nil, kb(int64(m.Sys)+total), physical, maxWorkers,
				runtime.GOMAXPROCS(0), 0, q.Instance.Started(), p.kernel, p.user, 0, "NONE")
		}},
		{"sys.dm_os_host_info", []string{
			"host_platform nvarchar(256)", "host_distribution nvarchar(256)", "host_release nvarchar(256)",
			"host_service_pack_level nvarchar(256)", "host_sku int null", "os_language_version int", "host_architecture nvarchar(256)",
		}, func(q catalog.SystemQuery, add adder) error {
			platform := map[string]string{"linux": "Linux", "windows": "Windows", "darwin": "macOS"}[runtime.GOOS]
			if platform == "" {
				platform = runtime.GOOS
			}
			arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
			if arch == "" {
				arch = runtime.GOARCH
			}
			return add(platform, platform, thisProcess().kernelRelease, "", nil, 0, arch)
		}},
		{"sys.configurations", []string{
			"configuration_id int", "name nvarchar(35)", "value sql_variant null", "minimum sql_variant null", "maximum sql_variant null",
			"value_in_use sql_variant null", "description nvarchar(255)", "is_dynamic bit", "is_advanced bit",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, c := range configurations {
				if err := add(c.id, c.name, c.value, c.min, c.max, c.value, c.about, true, c.advanced); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// configurations are the settings whose values say something true of the engine.
var configurations = []struct {
	id, value, min, max int
	name, about         string
	advanced            bool
}{
	{103, 0, 0, 32767, "user connections", "Number of user connections allowed; 0 is the largest number", true},
	{505, 4096, 512, 32767, "network packet size (B)", "Network packet size", true},
	{518, 0, 0, 1, "show advanced options", "show advanced options", false},
	{1538, 5, 0, 32767, "cost threshold for parallelism", "cost threshold for parallelism", true},
	{1539, 1, 0, 32767, "max degree of parallelism", "maximum degree of parallelism: every statement runs on one thread", true},
	{1544, 2147483647, 128, 2147483647, "max server memory (MB)", "Maximum size of server memory (MB)", true},
	{1562, 0, 0, 1, "clr enabled", "CLR user code execution enabled in the server", false},
	{1581, 0, 0, 1, "optimize for ad hoc workloads", "When on, plans of statements that run once are kept smaller", true},
	{16390, 0, 0, 1, "xp_cmdshell", "Enable or disable command shell", true},
}
