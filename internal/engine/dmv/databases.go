package dmv

import (
	"crypto/sha256"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/types"
)

// saSID is the security id of sa.
var saSID = []byte{1}

// guid makes an id that is always the same for the same text.
func guid(text string) types.Value {
	h := sha256.Sum256([]byte(text))
	return types.NewGUID([16]byte(h[:16]))
}

var fileCols = []string{
	"file_id int", "file_guid uniqueidentifier null", "type tinyint", "type_desc nvarchar(60) null", "data_space_id int", "name sysname",
	"physical_name nvarchar(260) null", "state tinyint null", "state_desc nvarchar(60) null", "size int", "max_size int", "growth int",
	"is_media_read_only bit", "is_read_only bit", "is_sparse bit", "is_percent_growth bit", "is_name_reserved bit",
}

func fileRow(f *catalog.File) []any {
	return []any{
		f.ID, guid(f.Path), f.Type, [...]string{"ROWS", "LOG", "FILESTREAM"}[f.Type], f.Group, f.Name, f.Path, 0, "ONLINE",
		f.SizePages, f.MaxPages, f.Growth, false, false, false, f.PercentGrowth, false,
	}
}

var groupType = map[string]string{
	"FG": "ROWS_FILEGROUP", "FX": "MEMORY_OPTIMIZED_DATA_FILEGROUP", "FD": "FILESTREAM_DATA_FILEGROUP",
}

func databaseViews() []def {
	return []def{
		{"sys.databases", []string{
			"name sysname", "database_id int", "source_database_id int null", "owner_sid varbinary(85) null", "create_date datetime",
			"compatibility_level tinyint", "collation_name sysname null", "user_access tinyint null", "user_access_desc nvarchar(60) null",
			"is_read_only bit null", "is_auto_close_on bit", "is_auto_shrink_on bit null", "state tinyint null", "state_desc nvarchar(60) null",
			"is_in_standby bit null", "is_cleanly_shutdown bit null", "is_supplemental_logging_enabled bit null",
			"snapshot_isolation_state tinyint null", "snapshot_isolation_state_desc nvarchar(60) null", "is_read_committed_snapshot_on bit null",
			"recovery_model tinyint null", "recovery_model_desc nvarchar(60) null", "page_verify_option tinyint null",
			"page_verify_option_desc nvarchar(60) null", "is_auto_create_stats_on bit null", "is_auto_create_stats_incremental_on bit null",
			"is_auto_update_stats_on bit null", "is_auto_update_stats_async_on bit null", "is_ansi_null_default_on bit null",
			"is_ansi_nulls_on bit null", "is_ansi_padding_on bit null", "is_ansi_warnings_on bit null", "is_arithabort_on bit null",
			"is_concat_null_yields_null_on bit null", "is_numeric_roundabort_on bit null", "is_quoted_identifier_on bit null",
			"is_recursive_triggers_on bit null", "is_cursor_close_on_commit_on bit null", "is_local_cursor_default bit null",
			"is_fulltext_enabled bit null", "is_trustworthy_on bit null", "is_db_chaining_on bit null", "is_parameterization_forced bit null",
			"is_master_key_encrypted_by_server bit", "is_query_store_on bit null", "is_published bit", "is_subscribed bit",
			"is_merge_published bit", "is_distributor bit", "is_sync_with_backup bit", "service_broker_guid uniqueidentifier",
			"is_broker_enabled bit", "log_reuse_wait tinyint null", "log_reuse_wait_desc nvarchar(60) null", "is_date_correlation_on bit",
			"is_cdc_enabled bit", "is_encrypted bit null", "is_honor_broker_priority_on bit null", "replica_id uniqueidentifier null",
			"group_database_id uniqueidentifier null", "resource_pool_id int null", "containment tinyint null",
			"containment_desc nvarchar(60) null", "target_recovery_time_in_seconds int null", "delayed_durability int null",
			"delayed_durability_desc nvarchar(60) null", "is_memory_optimized_elevate_to_snapshot_on bit null",
		}, databaseRows},
		{"sys.filegroups", []string{
			"name sysname", "data_space_id int", "type char(2)", "type_desc nvarchar(60) null", "is_default bit null", "is_system bit null",
			"filegroup_guid uniqueidentifier null", "log_filegroup_id int null", "is_read_only bit null", "is_autogrow_all_files bit null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, g := range q.Database.FileGroups() {
				var id any
				if g.ID > 1 {
					id = guid(q.Database.Name() + "." + g.Name)
				}
				if err := add(g.Name, g.ID, g.Type, groupType[g.Type], g.Default, false, id, nil, g.ReadOnly, false); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.data_spaces", []string{
			"name sysname", "data_space_id int", "type char(2)", "type_desc nvarchar(60) null", "is_default bit null", "is_system bit null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, g := range q.Database.FileGroups() {
				if err := add(g.Name, g.ID, g.Type, groupType[g.Type], g.Default, false); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.database_files", fileCols, func(q catalog.SystemQuery, add adder) error {
			for _, f := range q.Database.Files() {
				if err := add(fileRow(&f)...); err != nil {
					return err
				}
			}
			return nil
		}},
		{"sys.master_files", join([]string{"database_id int"}, fileCols), func(q catalog.SystemQuery, add adder) error {
			for _, db := range q.Instance.Databases() {
				for _, f := range db.Files() {
					if err := add(append([]any{db.ID}, fileRow(&f)...)...); err != nil {
						return err
					}
				}
			}
			return nil
		}},
	}
}

func databaseRows(q catalog.SystemQuery, add adder) error {
	for _, db := range q.Instance.Databases() {
		o := db.Options()
		access, accessDesc := 0, "MULTI_USER"
		switch {
		case o.SingleUser:
			access, accessDesc = 1, "SINGLE_USER"
		case o.RestrictedUser:
			access, accessDesc = 2, "RESTRICTED_USER"
		}
		snapshot, snapshotDesc := 0, "OFF"
		if o.SnapshotIsolation {
			snapshot, snapshotDesc = 1, "ON"
		}
		recovery := map[string]int{"FULL": 1, "BULK_LOGGED": 2, "SIMPLE": 3}[o.Recovery]
		verify := map[string]int{"NONE": 0, "TORN_PAGE_DETECTION": 1, "CHECKSUM": 2}[o.PageVerify]
		delayed := map[string]int{"DISABLED": 0, "ALLOWED": 1, "FORCED": 2}[o.DelayedDurability]
		err := add(db.Name(), db.ID, nil, saSID, db.Created, o.CompatibilityLevel, o.Collation, access, accessDesc,
			o.ReadOnly, o.AutoClose, o.AutoShrink, 0, "ONLINE", false, false, false, snapshot, snapshotDesc, o.ReadCommittedSnapshot,
			recovery, o.Recovery, verify, o.PageVerify, o.AutoCreateStats, false, o.AutoUpdateStats, o.AutoUpdateStatsAsync,
			o.AnsiNullDefault, o.AnsiNulls, o.AnsiPadding, o.AnsiWarnings, o.ArithAbort, o.ConcatNullYieldsNull, o.NumericRoundAbort,
			o.QuotedIdentifier, o.RecursiveTriggers, o.CursorCloseOnCommit, o.LocalCursorDefault, false, o.Trustworthy, o.DBChaining,
			o.ParameterizationForced, false, o.QueryStore, false, false, false, false, false, guid("broker."+db.Name()), o.Broker,
			0, "NOTHING", o.DateCorrelation, false, false, false, nil, nil, nil, 0, "NONE", o.TargetRecoverySecs,
			delayed, o.DelayedDurability, o.ElevateToSnapshot)
		if err != nil {
			return err
		}
	}
	return nil
}
