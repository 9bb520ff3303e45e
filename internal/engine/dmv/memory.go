package dmv

import (
	"fmt"

	"gostress/internal/engine/catalog"
)

// kb rounds bytes up to KB.
func kb(n int64) int64 { return (n + 1023) / 1024 }

// memory adds up what a database's tables take, memory-optimized ones and others.
func memory(db *catalog.Database) (xtp, disk int64) {
	for _, t := range db.Tables() {
		if t.Data == nil {
			continue
		}
		rows, indexes := t.Data.MemoryBytes()
		if t.MemoryOptimized {
			xtp += rows + indexes
		} else {
			disk += rows + indexes
		}
	}
	return xtp, disk
}

func storageViews() []def {
	return []def{
		{"sys.dm_os_memory_clerks", []string{
			"memory_clerk_address varbinary(8)", "type nvarchar(60)", "name nvarchar(256)", "memory_node_id smallint", "pages_kb bigint",
			"virtual_memory_reserved_kb bigint", "virtual_memory_committed_kb bigint", "awe_allocated_kb bigint",
		}, func(q catalog.SystemQuery, add adder) error {
			n := byte(0)
			clerk := func(typ, name string, bytes int64) error {
				n++
				return add([]byte{0, 0, 0, 0, 0, 0, 0, n}, typ, name, 0, kb(bytes), 0, 0, 0)
			}
			pool := int64(0)
			for _, db := range q.Instance.Databases() {
				xtp, disk := memory(db)
				pool += disk
				if db.HasMemoryOptimized() {
					if err := clerk("MEMORYCLERK_XTP", fmt.Sprintf("DB_ID_%d", db.ID), xtp); err != nil {
						return err
					}
				}
			}
			if err := clerk("MEMORYCLERK_XTP", "Default", 0); err != nil {
				return err
			}
			return clerk("MEMORYCLERK_SQLBUFFERPOOL", "Default", pool)
		}},
		{"sys.dm_db_xtp_table_memory_stats", []string{
			"object_id int null", "memory_allocated_for_table_kb bigint null", "memory_used_by_table_kb bigint null",
			"memory_allocated_for_indexes_kb bigint null", "memory_used_by_indexes_kb bigint null",
		}, func(q catalog.SystemQuery, add adder) error {
			for _, t := range userTables(q) {
				if !t.MemoryOptimized || t.Data == nil {
					continue
				}
				rows, indexes := t.Data.MemoryBytes()
				if err := add(t.ID, kb(rows), kb(rows), kb(indexes), kb(indexes)); err != nil {
					return err
				}
			}
			return nil
		}},
		// The tables live in memory only: there are no checkpoint files.
		{"sys.dm_db_xtp_checkpoint_files", []string{
			"container_id int", "container_guid uniqueidentifier", "checkpoint_file_id uniqueidentifier null", "relative_file_path nvarchar(256)",
			"file_type smallint", "file_type_desc nvarchar(60)", "internal_storage_slot int null", "checkpoint_pair_file_id uniqueidentifier null",
			"file_size_in_bytes bigint", "file_size_used_in_bytes bigint null", "logical_row_count bigint null", "state smallint",
			"state_desc nvarchar(60)", "lower_bound_tsn bigint null", "upper_bound_tsn bigint null", "begin_checkpoint_id bigint null",
			"end_checkpoint_id bigint null", "last_updated_checkpoint_id bigint null", "encryption_status int", "encryption_status_desc nvarchar(60)",
		}, none},
	}
}
