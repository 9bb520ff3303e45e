package catalog

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// AlterDatabase carries out an ALTER DATABASE statement; handled is false when s is
// none. current is the session's database. It returns the database altered, so that
// the caller can see to its termination clause (WITH ROLLBACK IMMEDIATE).
func (in *Instance) AlterDatabase(s ast.Statement, current *Database) (db *Database, handled bool, err error) {
	var (
		name *ast.Identifier
		fn   func(db *Database, s *snapshot) error
	)
	switch s := s.(type) {
	case *ast.AlterDatabaseSetStatement:
		if s.DatabaseName == nil && s.UseCurrent {
			name = &ast.Identifier{Value: "CURRENT", QuoteType: "NotQuoted"}
		} else {
			name = s.DatabaseName
		}
		fn = func(db *Database, sn *snapshot) error { return setOptions(&sn.options, s.Options) }
	case *ast.AlterDatabaseAddFileGroupStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error {
			return sn.addFileGroup(s.FileGroupName.Value, s.ContainsMemoryOptimizedData, s.ContainsFileStream)
		}
	case *ast.AlterDatabaseAddFileStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error {
			group := ""
			if s.FileGroup != nil {
				group = s.FileGroup.Value
			}
			for _, f := range s.FileDeclarations {
				if err := sn.addFile(in, f, group, s.IsLog); err != nil {
					return err
				}
			}
			return nil
		}
	case *ast.AlterDatabaseModifyFileStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error { return sn.modifyFile(s.FileDeclaration) }
	case *ast.AlterDatabaseModifyFileGroupStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error { return sn.modifyFileGroup(s) }
	case *ast.AlterDatabaseRemoveFileStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error { return sn.removeFile(s.FileName.Value) }
	case *ast.AlterDatabaseRemoveFileGroupStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error { return sn.removeFileGroup(s.FileGroupName.Value) }
	case *ast.AlterDatabaseModifyNameStatement:
		db, err = in.rename(s.DatabaseName, s.NewName.Value, current)
		return db, true, err
	case *ast.AlterDatabaseCollateStatement:
		name, fn = s.DatabaseName, func(db *Database, sn *snapshot) error {
			c, err := types.CollationByName(s.Collation.Value)
			if err != nil {
				return err
			}
			if c != types.CollDefault {
				return sqlerr.Unsupported("a database collation other than Latin1_General_CI_AS")
			}
			sn.options.Collation = s.Collation.Value
			return nil
		}
	default:
		return nil, false, nil
	}
	if db, err = in.named(name, current); err != nil {
		return nil, true, err
	}
	return db, true, db.edit(nil, func(sn *snapshot) error { return fn(db, sn) })
}

// named resolves the database of an ALTER DATABASE statement.
func (in *Instance) named(id *ast.Identifier, current *Database) (*Database, error) {
	if id == nil || id.QuoteType == "NotQuoted" && strings.EqualFold(id.Value, "CURRENT") {
		return current, nil
	}
	db, ok := in.Database(id.Value)
	if !ok {
		return nil, sqlerr.New(5011, 14, 5, "The database '%s' cannot be altered: it is not there, it is in a state that does not allow it, or you may not alter it.", id.Value)
	}
	return db, nil
}

func (in *Instance) rename(id *ast.Identifier, name string, current *Database) (*Database, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	db, err := in.named(id, current)
	if err != nil {
		return nil, err
	}
	if db.ID <= MsdbID {
		return nil, sqlerr.New(5042, 16, 1, "The system database '%s' cannot be renamed.", db.Name())
	}
	if _, ok := in.Database(name); ok && !EqualName(name, db.Name()) {
		return nil, sqlerr.New(1801, 16, 3, "A database named '%s' is already there; choose another name.", name)
	}
	old := db.Name()
	if err := db.edit(nil, func(s *snapshot) error { s.name = name; return nil }); err != nil {
		return nil, err
	}
	in.edit(func(d *databases) {
		delete(d.byName, Fold(old))
		d.byName[Fold(name)] = db
	})
	return db, nil
}

func setOptions(o *DatabaseOptions, list []ast.DatabaseOption) error {
	for _, opt := range list {
		if err := setOption(o, opt); err != nil {
			return err
		}
	}
	return nil
}

func setOption(o *DatabaseOptions, opt ast.DatabaseOption) error {
	switch opt := opt.(type) {
	case *ast.OnOffDatabaseOption:
		return setSwitch(o, opt.OptionKind, opt.OptionState == "On")
	case *ast.AutoCreateStatisticsDatabaseOption:
		o.AutoCreateStats = opt.OptionState == "On"
	case *ast.RecoveryDatabaseOption:
		o.Recovery = map[string]string{"Full": "FULL", "BulkLogged": "BULK_LOGGED", "Simple": "SIMPLE"}[opt.Value]
	case *ast.DelayedDurabilityDatabaseOption:
		o.DelayedDurability = upper(opt.Value)
	case *ast.PageVerifyDatabaseOption:
		o.PageVerify = map[string]string{"Checksum": "CHECKSUM", "None": "NONE", "TornPageDetection": "TORN_PAGE_DETECTION"}[opt.Value]
	case *ast.CursorDefaultDatabaseOption:
		o.LocalCursorDefault = opt.IsLocal
	case *ast.ParameterizationDatabaseOption:
		o.ParameterizationForced = !opt.IsSimple
	case *ast.TargetRecoveryTimeDatabaseOption:
		n, err := integer(opt.RecoveryTime)
		if err != nil {
			return sqlerr.UnsupportedOption("TARGET_RECOVERY_TIME")
		}
		if opt.Unit == "Minutes" {
			n *= 60
		}
		o.TargetRecoverySecs = int32(n)
	case *ast.LiteralDatabaseOption:
		return setLiteral(o, opt)
	case *ast.SimpleDatabaseOption:
		return setState(o, opt.OptionKind)
	case *ast.GenericDatabaseOption:
		return setState(o, opt.OptionKind)
	case *ast.ContainmentDatabaseOption:
		if opt.Value != "None" {
			return sqlerr.UnsupportedOption("CONTAINMENT = PARTIAL")
		}
	case *ast.QueryStoreDatabaseOption:
		if opt.OptionState == "On" {
			return sqlerr.UnsupportedOption("QUERY_STORE = ON")
		}
	case *ast.ChangeTrackingDatabaseOption:
		if opt.OptionState == "On" {
			return sqlerr.UnsupportedOption("CHANGE_TRACKING = ON")
		}
	case *ast.AcceleratedDatabaseRecoveryDatabaseOption:
		if opt.OptionState == "On" {
			return sqlerr.UnsupportedOption("ACCELERATED_DATABASE_RECOVERY = ON")
		}
	default:
		return sqlerr.UnsupportedOption("this database option")
	}
	return nil
}

func setLiteral(o *DatabaseOptions, opt *ast.LiteralDatabaseOption) error {
	if opt.OptionKind != "CompatibilityLevel" {
		return sqlerr.UnsupportedOption(opt.OptionKind)
	}
	n, err := integer(opt.Value)
	switch {
	case err == nil && n >= 100 && n <= 160 && n%10 == 0:
		o.CompatibilityLevel = uint8(n)
		return nil
	default:
		return sqlerr.New(15048, 16, 1, "The compatibility level must be 100, 110, 120, 130, 140, 150 or 160.")
	}
}

func setSwitch(o *DatabaseOptions, kind string, on bool) error {
	flag := map[string]*bool{
		"AnsiNullDefault": &o.AnsiNullDefault, "AnsiNulls": &o.AnsiNulls, "AnsiPadding": &o.AnsiPadding,
		"AnsiWarnings": &o.AnsiWarnings, "ArithAbort": &o.ArithAbort, "AutoClose": &o.AutoClose,
		"AutoShrink": &o.AutoShrink, "AutoUpdateStatistics": &o.AutoUpdateStats,
		"AutoUpdateStatisticsAsync": &o.AutoUpdateStatsAsync, "ConcatNullYieldsNull": &o.ConcatNullYieldsNull,
		"QuotedIdentifier": &o.QuotedIdentifier, "RecursiveTriggers": &o.RecursiveTriggers,
		"CursorCloseOnCommit": &o.CursorCloseOnCommit, "Trustworthy": &o.Trustworthy, "DBChaining": &o.DBChaining,
		"DateCorrelationOptimization": &o.DateCorrelation, "ReadCommittedSnapshot": &o.ReadCommittedSnapshot,
		"AllowSnapshotIsolation": &o.SnapshotIsolation, "MemoryOptimizedElevateToSnapshot": &o.ElevateToSnapshot,
	}[kind]
	switch {
	case flag != nil:
		*flag = on
	case !on: // what the engine does not have is off
	default:
		return sqlerr.UnsupportedOption(kind + " ON")
	}
	return nil
}

func setState(o *DatabaseOptions, kind string) error {
	switch kind {
	case "SingleUser":
		o.SingleUser, o.RestrictedUser = true, false
	case "RestrictedUser":
		o.SingleUser, o.RestrictedUser = false, true
	case "MultiUser":
		o.SingleUser, o.RestrictedUser = false, false
	case "ReadWrite", "Online", "DisableBroker":
	default:
		return sqlerr.UnsupportedOption(kind)
	}
	return nil
}
