package exec

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/storage"
	"gostress/internal/engine/types"
)

// setOptions compiles the SET statements that change options. An option whose
// other value would make no difference here is taken; one that would is refused
// by name, never ignored.
func (cc *compiler) setOptions(st ast.Statement) (*code, error) {
	switch n := st.(type) {
	case *ast.PredicateSetStatement:
		return cc.setPredicates(n)
	case *ast.SetCommandStatement:
		return cc.setCommands(n)
	case *ast.SetTransactionIsolationLevelStatement:
		l, ok := isoLevels[foldName(strings.ReplaceAll(n.Level, " ", ""))]
		if !ok {
			return nil, sqlerr.UnsupportedOption("TRANSACTION ISOLATION LEVEL " + n.Level)
		}
		return option(func(s *Session) error { s.set.isolation = l; return nil }), nil
	case *ast.SetTextSizeStatement:
		x, err := cc.scalarAs(n.TextSize, types.Int)
		if err != nil {
			return nil, err
		}
		return optionValue(x, func(s *Session, v types.Value) error {
			n := int32(v.Int())
			switch {
			case n < 0:
				n = 2147483647
			case n == 0:
				n = 4096
			case n < 8000:
				return sqlerr.UnsupportedOption("TEXTSIZE below 8000")
			}
			s.set.textSize = n
			return nil
		}), nil
	case *ast.SetRowCountStatement:
		x, err := cc.scalarAs(n.NumberRows, types.BigInt)
		if err != nil {
			return nil, err
		}
		return optionValue(x, func(s *Session, v types.Value) error {
			s.set.rowCount = max(v.Int(), 0)
			return nil
		}), nil
	case *ast.SetIdentityInsertStatement:
		return cc.setIdentityInsert(n)
	case *ast.SetStatisticsStatement:
		if n.IsOn {
			return nil, sqlerr.UnsupportedOption("STATISTICS " + strings.ToUpper(n.Options))
		}
		return option(func(*Session) error { return nil }), nil
	}
	return nil, sqlerr.Unsupported(construct(st))
}

var isoLevels = map[string]isoLevel{
	"readuncommitted": isoReadUncommitted, "readcommitted": isoReadCommitted, "repeatableread": isoRepeatableRead,
	"serializable": isoSerializable, "snapshot": isoSnapshot,
}

// option wraps a change of an option: SET sends no Done.
func option(set func(s *Session) error) *code {
	return quiet(func(s *Session, fr *frame) error {
		s.rowCount = 0
		return set(s)
	})
}

func optionValue(x expr.Expr, set func(s *Session, v types.Value) error) *code {
	return quiet(func(s *Session, fr *frame) error {
		v, err := x.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		s.rowCount = 0
		return set(s, v)
	})
}

// setPredicates compiles SET option [, ...] ON | OFF.
func (cc *compiler) setPredicates(n *ast.PredicateSetStatement) (*code, error) {
	var sets []func(s *Session)
	on := n.IsOn
	for _, o := range strings.Split(n.Options, ",") {
		name := foldName(strings.ReplaceAll(strings.TrimSpace(o), "_", ""))
		set, ok := predicates[name]
		if !ok {
			return nil, sqlerr.UnsupportedOption("SET " + strings.TrimSpace(o))
		}
		if set.need == needOn && !on || set.need == needOff && on {
			return nil, sqlerr.UnsupportedOption("SET " + set.name + " " + map[bool]string{true: "ON", false: "OFF"}[on])
		}
		if set.set != nil {
			sets = append(sets, func(s *Session) { set.set(s, on) })
		}
	}
	return option(func(s *Session) error {
		for _, f := range sets {
			f(s)
		}
		return nil
	}), nil
}

type need uint8

const (
	either need = iota
	needOn
	needOff
)

type predicate struct {
	name string
	need need
	set  func(s *Session, on bool)
}

// predicates are the options by folded name without underscores. Those that
// would change what comparisons, concatenations or conversions give are refused
// when they ask for what this engine does not do.
var predicates = map[string]predicate{
	"nocount":                {"NOCOUNT", either, func(s *Session, on bool) { s.set.noCount = on }},
	"xactabort":              {"XACT_ABORT", either, func(s *Session, on bool) { s.set.xactAbort = on }},
	"implicittransactions":   {"IMPLICIT_TRANSACTIONS", either, func(s *Session, on bool) { s.set.implicitTran = on }},
	"fmtonly":                {"FMTONLY", either, func(s *Session, on bool) { s.set.fmtOnly = on }},
	"noexec":                 {"NOEXEC", either, func(s *Session, on bool) { s.set.noExec = on }},
	"parseonly":              {"PARSEONLY", either, func(s *Session, on bool) { s.set.parseOnly = on }},
	"ansinulls":              {"ANSI_NULLS", needOn, nil},
	"ansipadding":            {"ANSI_PADDING", needOn, nil},
	"ansiwarnings":           {"ANSI_WARNINGS", needOn, nil},
	"concatnullyieldsnull":   {"CONCAT_NULL_YIELDS_NULL", needOn, nil},
	"ansidefaults":           {"ANSI_DEFAULTS", needOn, func(s *Session, on bool) { s.set.implicitTran, s.set.cursorCloseOnCommit = true, true }},
	"ansinulldflton":         {"ANSI_NULL_DFLT_ON", either, func(s *Session, on bool) { s.set.ansiNullDfltOn = on }},
	"ansinulldfltoff":        {"ANSI_NULL_DFLT_OFF", either, func(s *Session, on bool) { s.set.ansiNullDfltOn = !on }},
	"arithabort":             {"ARITHABORT", either, func(s *Session, on bool) { s.set.arithAbort = on }},
	"arithignore":            {"ARITHIGNORE", needOff, nil},
	"numericroundabort":      {"NUMERIC_ROUNDABORT", needOff, nil},
	"quotedidentifier":       {"QUOTED_IDENTIFIER", either, func(s *Session, on bool) { s.set.quotedIdent = on }},
	"cursorcloseoncommit":    {"CURSOR_CLOSE_ON_COMMIT", either, func(s *Session, on bool) { s.set.cursorCloseOnCommit = on }},
	"nobrowsetable":          {"NO_BROWSETABLE", either, nil},
	"remoteproctransactions": {"REMOTE_PROC_TRANSACTIONS", needOff, nil},
	"forceplan":              {"FORCEPLAN", needOff, nil},
	"showplanall":            {"SHOWPLAN_ALL", needOff, nil},
	"showplantext":           {"SHOWPLAN_TEXT", needOff, nil},
	"showplanxml":            {"SHOWPLAN_XML", needOff, nil},
	"io":                     {"STATISTICS IO", needOff, nil},
	"time":                   {"STATISTICS TIME", needOff, nil},
	"profile":                {"STATISTICS PROFILE", needOff, nil},
	"statisticsxml":          {"STATISTICS XML", needOff, nil},
}

// setCommands compiles SET with a value: LOCK_TIMEOUT, LANGUAGE ...
func (cc *compiler) setCommands(n *ast.SetCommandStatement) (*code, error) {
	var all []*code
	for _, cmd := range n.Commands {
		g, ok := cmd.(*ast.GeneralSetCommand)
		if !ok {
			if f, is := cmd.(*ast.SetFipsFlaggerCommand); is && strings.EqualFold(f.ComplianceLevel, "Off") {
				continue
			}
			return nil, sqlerr.UnsupportedOption("SET FIPS_FLAGGER")
		}
		c, err := cc.setCommand(g)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return quiet(func(s *Session, fr *frame) error {
		for _, c := range all {
			if err := c.run(s, fr); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func (cc *compiler) setCommand(g *ast.GeneralSetCommand) (*code, error) {
	var x expr.Expr
	if _, binary := g.Parameter.(*ast.BinaryLiteral); !binary && literalText(g.Parameter) != "" {
		text := literalText(g.Parameter)
		x = expr.Constant(types.NVarChar(len(text)), types.NewString(types.KindNVarChar, text))
	} else {
		var err error
		if x, err = cc.scalar(g.Parameter); err != nil {
			return nil, err
		}
	}
	number := func(v types.Value) (int64, error) {
		n, err := types.Assign(v, types.BigInt)
		return n.Int(), err
	}
	switch foldName(strings.ReplaceAll(g.CommandType, "_", "")) {
	case "locktimeout":
		return optionValue(x, func(s *Session, v types.Value) error {
			n, err := number(v)
			if err == nil {
				s.set.lockTimeout = int32(max(n, -1))
				s.tranSettings()
			}
			return err
		}), nil
	case "deadlockpriority":
		return optionValue(x, func(s *Session, v types.Value) error {
			switch foldName(types.Format(v)) {
			case "low":
				s.set.deadlockPriority = -5
			case "normal":
				s.set.deadlockPriority = 0
			case "high":
				s.set.deadlockPriority = 5
			default:
				n, err := number(v)
				if err != nil || n < -10 || n > 10 {
					return sqlerr.New(3127, 16, 1, "DEADLOCK_PRIORITY must be LOW, NORMAL, HIGH or a number from -10 to 10.")
				}
				s.set.deadlockPriority = int8(n)
			}
			s.tranSettings()
			return nil
		}), nil
	case "datefirst":
		return optionValue(x, func(s *Session, v types.Value) error {
			n, err := number(v)
			if err != nil {
				return err
			}
			if n < 1 || n > 7 {
				return sqlerr.New(2742, 16, 1, "The value %d is not valid for SET DATEFIRST: it must be from 1 to 7.", n)
			}
			if n != 7 {
				return sqlerr.UnsupportedOption("SET DATEFIRST " + strconv.FormatInt(n, 10))
			}
			return nil
		}), nil
	case "dateformat":
		return optionValue(x, func(s *Session, v types.Value) error {
			switch f := foldName(types.Format(v)); f {
			case "mdy":
				return nil
			case "dmy", "ymd", "ydm", "myd", "dym":
				return sqlerr.UnsupportedOption("SET DATEFORMAT " + f)
			default:
				return sqlerr.New(2741, 16, 1, "SET DATEFORMAT: the order of the parts of a date cannot be '%s'.", f)
			}
		}), nil
	case "language":
		return quiet(func(s *Session, fr *frame) error {
			v, err := x.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			if err := setLanguage(types.Format(v), "SET LANGUAGE"); err != nil {
				return err
			}
			s.rowCount = 0
			if err := s.sendEnv(EnvLanguage, language, language, 0); err != nil {
				return err
			}
			return s.info(5703, 1, 0, int(cc.in.line), "Changed the language to us_english.")
		}), nil
	case "contextinfo":
		return optionValue(x, func(s *Session, v types.Value) error {
			b, err := types.Assign(v, types.VarBinary(128))
			if err != nil {
				return err
			}
			s.set.contextInfo = append(append([]byte(nil), b.Bytes()...), make([]byte, 128)...)[:128]
			return nil
		}), nil
	case "querygovernorcostlimit":
		return optionValue(x, func(s *Session, v types.Value) error {
			if n, err := number(v); err != nil || n != 0 {
				return sqlerr.UnsupportedOption("SET QUERY_GOVERNOR_COST_LIMIT")
			}
			return nil
		}), nil
	}
	return nil, sqlerr.UnsupportedOption("SET " + g.CommandType)
}

func (cc *compiler) setIdentityInsert(n *ast.SetIdentityInsertStatement) (*code, error) {
	name, on, db, p := n.Table, n.IsOn, cc.db, cc.p
	return option(func(s *Session) error {
		t, _, err := s.table(db, p, name)
		if err != nil {
			return sqlerr.New(1088, 16, 11, "The object \"%s\" is not there, or you may not use it.", nameText(name))
		}
		if t.Identity == nil {
			return sqlerr.New(8106, 16, 1, "Table '%s' has no identity column. SET cannot be carried out.", nameText(name))
		}
		cur := s.set.identityInsert
		if !on {
			if cur != nil && cur.ID == t.ID {
				s.set.identityInsert = nil
			}
			return nil
		}
		if cur != nil && cur.ID != t.ID {
			return sqlerr.New(8107, 16, 1, "IDENTITY_INSERT is already ON for table '%s'. It cannot be set for table '%s'.", cur.FullName(), nameText(name))
		}
		s.set.identityInsert = t
		return nil
	}), nil
}

// tranSettings hands changed lock settings to the open transaction.
func (s *Session) tranSettings() {
	s.tran.each(func(tx *storage.Tx) {
		tx.SetLockTimeout(int(s.set.lockTimeout))
		tx.SetDeadlockPriority(int(s.set.deadlockPriority))
	})
}
