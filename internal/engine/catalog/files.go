package catalog

import "strings"

// DatabaseOptions are the options ALTER DATABASE SET changes.
type DatabaseOptions struct {
	CompatibilityLevel     uint8
	Recovery               string // FULL, BULK_LOGGED, SIMPLE
	DelayedDurability      string // DISABLED, ALLOWED, FORCED
	ReadCommittedSnapshot  bool
	SnapshotIsolation      bool
	ElevateToSnapshot      bool // MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT
	ReadOnly               bool
	SingleUser             bool
	RestrictedUser         bool
	AutoClose              bool
	AutoShrink             bool
	AutoCreateStats        bool
	AutoUpdateStats        bool
	AutoUpdateStatsAsync   bool
	AnsiNullDefault        bool
	AnsiNulls              bool
	AnsiPadding            bool
	AnsiWarnings           bool
	ArithAbort             bool
	ConcatNullYieldsNull   bool
	NumericRoundAbort      bool
	QuotedIdentifier       bool
	RecursiveTriggers      bool
	CursorCloseOnCommit    bool
	LocalCursorDefault     bool
	Trustworthy            bool
	DBChaining             bool
	ParameterizationForced bool
	DateCorrelation        bool
	Broker                 bool
	QueryStore             bool
	PageVerify             string // CHECKSUM, TORN_PAGE_DETECTION, NONE
	TargetRecoverySecs     int32
	Collation              string
}

func defaultOptions(id int32) DatabaseOptions {
	o := DatabaseOptions{
		CompatibilityLevel: 160, Recovery: "FULL", DelayedDurability: "DISABLED",
		AutoCreateStats: true, AutoUpdateStats: true, PageVerify: "CHECKSUM",
		TargetRecoverySecs: 60, Collation: "SQL_Latin1_General_CP1_CI_AS",
	}
	if id <= MsdbID && id != ModelID {
		o.Recovery = "SIMPLE"
	}
	if id == MasterID || id == MsdbID {
		o.SnapshotIsolation = true
	}
	return o
}

// FileGroup is a filegroup of a database.
type FileGroup struct {
	ID       int32 // data_space_id
	Name     string
	Type     string // FG rows, FX memory-optimized data, FD filestream
	Default  bool
	ReadOnly bool
}

// File is a file of a database. The engine of this version keeps data in memory:
// files are what the catalog shows.
type File struct {
	ID            int32
	Name          string
	Path          string
	Type          uint8 // 0 rows, 1 log, 2 filestream or memory-optimized container
	Group         int32 // data_space_id; 0 for log files
	SizePages     int32 // of 8 KB
	MaxPages      int32 // -1 unlimited
	Growth        int32 // pages, or percent when PercentGrowth
	PercentGrowth bool
}

func (s *snapshot) defaultFiles(dir string) {
	base := s.name
	data, log := base, base+"_log"
	switch Fold(s.name) {
	case "master":
		log = "mastlog"
	case "tempdb":
		data, log = "tempdev", "templog"
	case "model":
		data, log = "modeldev", "modellog"
	case "msdb":
		data, log = "MSDBData", "MSDBLog"
	}
	s.groups = []FileGroup{{ID: 1, Name: "PRIMARY", Type: "FG", Default: true}}
	s.files = []File{
		{ID: 1, Name: data, Path: joinPath(dir, base+".mdf"), Group: 1, SizePages: 1024, MaxPages: -1, Growth: 8192},
		{ID: 2, Name: log, Path: joinPath(dir, base+"_log.ldf"), Type: 1, SizePages: 1024, MaxPages: 268435456, Growth: 8192},
	}
}

func joinPath(dir, name string) string {
	if strings.Contains(dir, `\`) {
		return strings.TrimSuffix(dir, `\`) + `\` + name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// FileGroups returns the filegroups in the order of their ids.
func (db *Database) FileGroups() []FileGroup { return db.snap.Load().groups }

// Files returns the files in the order of their ids.
func (db *Database) Files() []File { return db.snap.Load().files }

// HasMemoryOptimized reports whether there is a filegroup for memory-optimized
// data with at least one container.
func (db *Database) HasMemoryOptimized() bool { return db.snap.Load().hasMemoryOptimized() }

func (s *snapshot) hasMemoryOptimized() bool {
	for _, g := range s.groups {
		if g.Type != "FX" {
			continue
		}
		for _, f := range s.files {
			if f.Group == g.ID {
				return true
			}
		}
	}
	return false
}
