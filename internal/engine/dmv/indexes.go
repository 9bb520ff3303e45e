package dmv

import "gostress/internal/engine/catalog"

var indexCols = []string{
	"object_id int", "name sysname null", "index_id int", "type tinyint", "type_desc nvarchar(60) null", "is_unique bit null",
	"data_space_id int null", "ignore_dup_key bit null", "is_primary_key bit null", "is_unique_constraint bit null", "fill_factor tinyint",
	"is_padded bit null", "is_disabled bit null", "is_hypothetical bit null", "is_ignored_in_optimization bit null", "allow_row_locks bit null",
	"allow_page_locks bit null", "has_filter bit null", "filter_definition nvarchar(max) null",
}

func indexType(t *catalog.Table, x *catalog.Index) (uint8, string) {
	switch {
	case x.Hash:
		return 7, "NONCLUSTERED HASH"
	case x.Clustered:
		return 1, "CLUSTERED"
	}
	return 2, "NONCLUSTERED"
}

// indexRow is a row of sys.indexes; x is nil for the heap.
func indexRow(t *catalog.Table, x *catalog.Index) []any {
	space := any(t.DataSpace)
	if t.MemoryOptimized && !t.Type {
		space = nil
	}
	if x == nil {
		return []any{t.ID, nil, 0, 0, "HEAP", false, space, false, false, false, 0, false, false, false, false, true, true, false, nil}
	}
	typ, desc := indexType(t, x)
	locks := !t.MemoryOptimized
	return []any{
		t.ID, x.Name, x.ID, typ, desc, x.Unique, space, x.IgnoreDup, x.PrimaryKey, x.Constraint && !x.PrimaryKey, x.FillFactor,
		false, x.Disabled, false, false, locks, locks, false, nil,
	}
}

// indexed lists the tables that can have indexes.
func indexed(q catalog.SystemQuery) []*catalog.Table {
	list := userTables(q)
	for _, t := range q.Database.TableTypes() {
		list = append(list, t.Table)
	}
	return list
}

// heap reports whether the table has no clustered index.
func heap(t *catalog.Table) bool {
	for i := range t.Indexes {
		if t.Indexes[i].Clustered {
			return false
		}
	}
	return true
}

func indexViews() []def {
	return []def{
		{"sys.indexes", join(indexCols, []string{"compression_delay int null", "suppress_dup_key_messages bit null", "auto_created bit null"}),
			func(q catalog.SystemQuery, add adder) error {
				for _, t := range indexed(q) {
					if heap(t) {
						if err := add(append(indexRow(t, nil), nil, false, false)...); err != nil {
							return err
						}
					}
					for i := range t.Indexes {
						if err := add(append(indexRow(t, &t.Indexes[i]), nil, false, false)...); err != nil {
							return err
						}
					}
				}
				return nil
			}},
		{"sys.hash_indexes", join(indexCols, []string{"bucket_count int"}), func(q catalog.SystemQuery, add adder) error {
			for _, t := range indexed(q) {
				for i := range t.Indexes {
					if x := &t.Indexes[i]; x.Hash {
						if err := add(append(indexRow(t, x), x.Buckets)...); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}},
		{"sys.index_columns", []string{
			"object_id int", "index_id int", "index_column_id int", "column_id int", "key_ordinal tinyint", "partition_ordinal tinyint",
			"is_descending_key bit null", "is_included_column bit null",
		}, indexColumnRows},
		{"sys.stats", []string{
			"object_id int", "name sysname null", "stats_id int", "auto_created bit null", "user_created bit null", "no_recompute bit null",
			"has_filter bit null", "filter_definition nvarchar(max) null",
		}, none},
		{"sys.partitions", []string{
			"partition_id bigint", "object_id int", "index_id int", "partition_number int", "hobt_id bigint", "rows bigint null",
			"filestream_filegroup_id smallint", "data_compression tinyint", "data_compression_desc nvarchar(60) null",
		}, func(q catalog.SystemQuery, add adder) error {
			return eachPartition(q, func(p partition) error {
				return add(p.id, p.table.ID, p.index, 1, p.id, p.table.Data.RowCount(), 0, 0, "NONE")
			})
		}},
		{"sys.allocation_units", []string{
			"allocation_unit_id bigint", "type tinyint", "type_desc nvarchar(60) null", "container_id bigint", "data_space_id int null",
			"total_pages bigint", "used_pages bigint", "data_pages bigint",
		}, func(q catalog.SystemQuery, add adder) error {
			return eachPartition(q, func(p partition) error {
				if p.table.MemoryOptimized {
					return nil
				}
				return add(p.id, 1, "IN_ROW_DATA", p.id, p.table.DataSpace, p.pages, p.pages, p.pages)
			})
		}},
		{"sys.dm_db_partition_stats", []string{
			"partition_id bigint null", "object_id int", "index_id int", "partition_number int", "in_row_data_page_count bigint null",
			"in_row_used_page_count bigint null", "in_row_reserved_page_count bigint null", "lob_used_page_count bigint null",
			"lob_reserved_page_count bigint null", "row_overflow_used_page_count bigint null", "row_overflow_reserved_page_count bigint null",
			"used_page_count bigint null", "reserved_page_count bigint null", "row_count bigint null",
		}, func(q catalog.SystemQuery, add adder) error {
			return eachPartition(q, func(p partition) error {
				n := p.pages
				if p.table.MemoryOptimized {
					n = 0
				}
				return add(p.id, p.table.ID, p.index, 1, n, n, n, 0, 0, 0, 0, n, n, p.table.Data.RowCount())
			})
		}},
	}
}

// partition is a heap or an index with the memory it takes, in pages of 8 KB.
type partition struct {
	id    int64
	table *catalog.Table
	index int32
	pages int64
}

// eachPartition shares a table's memory among its parts: the rows to the heap or
// clustered index, the indexes' memory evenly to the indexes.
func eachPartition(q catalog.SystemQuery, fn func(p partition) error) error {
	for _, t := range userTables(q) {
		if t.Data == nil {
			continue
		}
		rows, indexes := t.Data.MemoryBytes()
		page := func(n int64) int64 { return (n + 8191) / 8192 }
		id := func(index int32) int64 { return 72057594037927936 | int64(uint32(t.ID))<<8 | int64(index&0xFF) }
		first := int32(0)
		for i := range t.Indexes {
			if t.Indexes[i].Clustered {
				first = 1
			}
		}
		if err := fn(partition{id(first), t, first, page(rows)}); err != nil {
			return err
		}
		for i := range t.Indexes {
			x := &t.Indexes[i]
			if x.Clustered {
				continue
			}
			if err := fn(partition{id(x.ID), t, x.ID, page(indexes / int64(len(t.Indexes)))}); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexColumnRows(q catalog.SystemQuery, add adder) error {
	for _, t := range indexed(q) {
		for i := range t.Indexes {
			x := &t.Indexes[i]
			n := 0
			for k, c := range x.Columns {
				n++
				if err := add(t.ID, x.ID, n, t.Columns[c].ID, k+1, 0, k < len(x.Desc) && x.Desc[k], false); err != nil {
					return err
				}
			}
			for _, c := range x.Include {
				n++
				if err := add(t.ID, x.ID, n, t.Columns[c].ID, 0, 0, false, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
