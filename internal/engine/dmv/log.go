package dmv

import "gostress/internal/engine/catalog"

// logViews are about the transaction log and where it is sent. Nothing is logged: a log takes no
// space, and there are no availability groups.
func logViews() []def {
	return []def{
		{"sys.dm_db_log_space_usage", []string{
			"database_id smallint", "total_log_size_in_bytes bigint", "used_log_space_in_bytes bigint", "used_log_space_in_percent real",
			"log_space_in_bytes_since_last_backup bigint",
		}, func(q catalog.SystemQuery, add adder) error { return add(q.Database.ID, 0, 0, 0.0, 0) }},
		{"sys.dm_hadr_database_replica_states", []string{
			"database_id int", "group_id uniqueidentifier", "replica_id uniqueidentifier", "group_database_id uniqueidentifier", "is_local bit null",
			"is_primary_replica bit null", "synchronization_state tinyint null", "synchronization_state_desc nvarchar(60) null",
			"is_commit_participant bit null", "synchronization_health tinyint null", "synchronization_health_desc nvarchar(60) null",
			"database_state tinyint null", "database_state_desc nvarchar(60) null", "is_suspended bit null", "suspend_reason tinyint null",
			"suspend_reason_desc nvarchar(60) null", "recovery_lsn numeric(25,0) null", "truncation_lsn numeric(25,0) null",
			"last_sent_lsn numeric(25,0) null", "last_sent_time datetime null", "last_received_lsn numeric(25,0) null",
			"last_received_time datetime null", "last_hardened_lsn numeric(25,0) null", "last_hardened_time datetime null",
			"last_redone_lsn numeric(25,0) null", "last_redone_time datetime null", "log_send_queue_size bigint null", "log_send_rate bigint null",
			"redo_queue_size bigint null", "redo_rate bigint null", "filestream_send_rate bigint null", "end_of_log_lsn numeric(25,0) null",
			"last_commit_lsn numeric(25,0) null", "last_commit_time datetime null", "low_water_mark_for_ghosts bigint null",
			"secondary_lag_seconds bigint null",
		}, none},
	}
}
