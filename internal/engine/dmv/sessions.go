package dmv

import (
	"encoding/binary"
	"time"

	"gostress/internal/engine/catalog"
)

func sessionViews(live Live) []def {
	each := func(fn func(s *Session, add adder) error) func(catalog.SystemQuery, adder) error {
		return func(q catalog.SystemQuery, add adder) error {
			if live == nil {
				return nil
			}
			list := live.Sessions()
			for i := range list {
				if err := fn(&list[i], add); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []def{
		{"sys.dm_exec_sessions", []string{
			"session_id smallint", "login_time datetime", "host_name nvarchar(128) null", "program_name nvarchar(128) null",
			"host_process_id int null", "client_version int null", "client_interface_name nvarchar(32) null", "security_id varbinary(85)",
			"login_name nvarchar(128)", "nt_domain nvarchar(128) null", "nt_user_name nvarchar(128) null", "status nvarchar(30)",
			"context_info varbinary(128) null", "cpu_time int null", "memory_usage int null", "total_scheduled_time int null",
			"total_elapsed_time int", "endpoint_id int", "last_request_start_time datetime", "last_request_end_time datetime null",
			"reads bigint null", "writes bigint null", "logical_reads bigint null", "is_user_process bit", "text_size int",
			"language nvarchar(128) null", "date_format nvarchar(3) null", "date_first smallint", "quoted_identifier bit", "arithabort bit",
			"ansi_null_dflt_on bit", "ansi_defaults bit", "ansi_warnings bit", "ansi_padding bit", "ansi_nulls bit",
			"concat_null_yields_null bit", "transaction_isolation_level smallint", "lock_timeout int", "deadlock_priority int",
			"row_count bigint", "prev_error int", "original_security_id varbinary(85)", "original_login_name nvarchar(128)",
			"last_successful_logon datetime null", "last_unsuccessful_logon datetime null", "unsuccessful_logons bigint null", "group_id int",
			"database_id smallint", "authenticating_database_id int null", "open_transaction_count int",
		}, each(func(s *Session, add adder) error {
			return add(s.ID, s.LoginTime, orNil(s.Host), orNil(s.Program), s.HostPID, nil, orNil(s.Interface), saSID, s.Login, nil, nil, s.Status,
				nil, nil, nil, nil, ms(s.Elapsed), 4, s.LastStart, s.LastEnd, nil, nil, nil, true, s.TextSize, orNil(s.Language),
				orNil(s.DateFormat), s.DateFirst, s.QuotedIdentifier, s.ArithAbort, s.AnsiNullDefaultOn, false, s.AnsiWarnings, s.AnsiPadding,
				s.AnsiNulls, s.ConcatNull, s.Isolation, s.LockTimeout, s.DeadlockPriority, s.RowCount, s.PrevError, saSID, s.Login,
				nil, nil, nil, 2, s.Database, 1, s.OpenTransactions)
		})},
		{"sys.dm_exec_connections", []string{
			"session_id int null", "most_recent_session_id int null", "connect_time datetime", "net_transport nvarchar(40)",
			"protocol_type nvarchar(40) null", "protocol_version int null", "endpoint_id int null", "encrypt_option nvarchar(40)",
			"auth_scheme nvarchar(40)", "node_affinity smallint", "num_reads int null", "num_writes int null", "last_read datetime null",
			"last_write datetime null", "net_packet_size int null", "client_net_address varchar(48) null", "client_tcp_port int null",
		}, each(func(s *Session, add adder) error {
			encrypt := "FALSE"
			if s.Encrypted {
				encrypt = "TRUE"
			}
			port := any(nil)
			if s.Port > 0 {
				port = s.Port
			}
			return add(s.ID, s.ID, s.LoginTime, "TCP", "TSQL", 0x74000004, 4, encrypt, s.AuthScheme, 0, nil, nil, s.LastStart, s.LastEnd,
				s.PacketSize, orNil(s.Address), port)
		})},
		{"sys.dm_exec_requests", []string{
			"session_id smallint", "request_id int", "start_time datetime", "status nvarchar(30)", "command nvarchar(32)",
			"sql_handle varbinary(64) null", "statement_start_offset int null", "statement_end_offset int null", "plan_handle varbinary(64) null",
			"database_id smallint", "user_id int", "connection_id uniqueidentifier null", "blocking_session_id smallint null",
			"wait_type nvarchar(60) null", "wait_time int", "last_wait_type nvarchar(60)", "wait_resource nvarchar(256)",
			"open_transaction_count int", "open_resultset_count int null", "transaction_id bigint null", "context_info varbinary(128) null",
			"percent_complete real", "estimated_completion_time bigint", "cpu_time int null", "total_elapsed_time int",
		}, each(func(s *Session, add adder) error {
			r := s.Request
			if r == nil {
				return nil
			}
			return add(s.ID, 0, r.Start, r.Status, r.Command, nil, nil, nil, nil, s.Database, 1, nil, r.Blocking, orNil(r.WaitType), ms(r.Wait),
				r.WaitType, "", s.OpenTransactions, nil, nil, nil, 0.0, 0, nil, ms(time.Since(r.Start)))
		})},
		{"sys.dm_os_waiting_tasks", []string{
			"waiting_task_address varbinary(8)", "session_id smallint null", "exec_context_id int null", "wait_duration_ms bigint null",
			"wait_type nvarchar(60) null", "resource_address varbinary(8) null", "blocking_task_address varbinary(8) null",
			"blocking_session_id smallint null", "blocking_exec_context_id int null", "resource_description nvarchar(3072) null",
		}, each(func(s *Session, add adder) error {
			r := s.Request
			if r == nil || r.WaitType == "" {
				return nil
			}
			var blocking any
			if r.Blocking != 0 {
				blocking = r.Blocking
			}
			// A session has one task: its number stands for an address.
			return add(binary.BigEndian.AppendUint64(nil, uint64(s.ID)), s.ID, 0, ms(r.Wait), r.WaitType, nil, nil, blocking, nil, nil)
		})},
	}
}

// ms is a duration in milliseconds, never below 0.
func ms(d time.Duration) int64 { return max(int64(d/time.Millisecond), 0) }
