package plan

import (
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
)

// hints are the table hints that change what the engine does.
type hints struct {
	lock  bool     // UPDLOCK, XLOCK: rows that are read are locked until the end
	index []string // INDEX(...): names or numbers
	set   bool
}

func (h *hints) empty() bool { return !h.set }

// hintWords spells hints as a statement does.
var hintWords = map[string]string{
	"ReadPast": "READPAST", "NoWait": "NOWAIT", "IgnoreConstraints": "IGNORE_CONSTRAINTS",
	"IgnoreTriggers": "IGNORE_TRIGGERS", "KeepIdentity": "KEEPIDENTITY", "KeepDefaults": "KEEPDEFAULTS",
	"Serializable": "SERIALIZABLE", "RepeatableRead": "REPEATABLEREAD", "HoldLock": "HOLDLOCK",
	"ForceScan": "FORCESCAN", "ForceSeek": "FORCESEEK", "SpatialWindowMaxCells": "SPATIAL_WINDOW_MAX_CELLS",
}

// readHints accepts the hints whose promise the engine keeps or that promise
// nothing about the result, and refuses the others by name.
func readHints(list []ast.TableHintType, target bool) (hints, error) {
	h := hints{set: len(list) > 0}
	for _, hint := range list {
		switch hint := hint.(type) {
		case *ast.TableHint:
			switch hint.HintKind {
			case "NoLock", "ReadUncommitted", "ReadCommitted", "ReadCommittedLock", "Snapshot", "Rowlock", "PagLock", "TabLock", "NoExpand", "ForceScan":
				// Reads are never dirty, never wait and see one moment: all of these
				// allow that. The grain of locks is the engine's affair.
			case "UpdLock", "XLock":
				h.lock = true
			case "TabLockX":
				if !target {
					return h, sqlerr.UnsupportedOption("table hint TABLOCKX").At(tsql.Line(hint))
				}
			case "HoldLock", "Serializable", "RepeatableRead":
				// On the target of a modification the rows stay locked by being
				// changed; a range of rows that are not there yet is not locked,
				// but a unique index decides between two inserts.
				if !target {
					return h, sqlerr.UnsupportedOption("table hint " + hintWords[hint.HintKind]).At(tsql.Line(hint))
				}
			default:
				w := hintWords[hint.HintKind]
				if w == "" {
					w = strings.ToUpper(hint.HintKind)
				}
				return h, sqlerr.UnsupportedOption("table hint " + w).At(tsql.Line(hint))
			}
		case *ast.IndexTableHint:
			for _, v := range hint.IndexValues {
				h.index = append(h.index, v.Value)
			}
		case *ast.ForceSeekTableHint:
			if hint.IndexValue != nil {
				h.index = append(h.index, hint.IndexValue.Value)
			}
		default:
			return h, sqlerr.UnsupportedOption("this table hint").At(tsql.Line(hint))
		}
	}
	return h, nil
}

// check refuses INDEX hints that name no index. Error 308.
func (h *hints) check(t *catalog.Table) error {
	for _, name := range h.index {
		if n, err := strconv.Atoi(name); err == nil {
			if n == 0 || indexByID(t, n) >= 0 {
				continue
			}
		} else if t.Index(name) >= 0 {
			continue
		}
		return sqlerr.New(308, 16, 1, "Index '%s' on table '%s' (given in the FROM clause) does not exist.", name, t.FullName())
	}
	return nil
}

// allows reports whether the hints leave index i to be used.
func (h *hints) allows(t *catalog.Table, i int) bool {
	if len(h.index) == 0 {
		return true
	}
	for _, name := range h.index {
		if n, err := strconv.Atoi(name); err == nil && int(t.Indexes[i].ID) == n || catalog.EqualName(name, t.Indexes[i].Name) {
			return true
		}
	}
	return false
}

func indexByID(t *catalog.Table, id int) int {
	for i := range t.Indexes {
		if int(t.Indexes[i].ID) == id {
			return i
		}
	}
	return -1
}

// queryHints are the OPTION hints that change what the engine does.
type queryHints struct {
	maxRecursion int // -1 = not given
	forceOrder   bool
}

// valueHints are the hints with a value, and plainHints those without, that say
// how to find the rows.
var (
	valueHints = kinds("fast maxdop querytraceon label mingrantpercent maxgrantpercent")
	plainHints = kinds("hashjoin loopjoin mergejoin hashgroup ordergroup concatunion hashunion mergeunion recompile robustplan keepplan keepfixedplan " +
		"expandviews parameterizationsimple parameterizationforced noperformancespool ignorenonclusteredcolumnstoreindex optimizeforunknown")
)

func kinds(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// readQueryHints reads OPTION (...): hints about how to find the rows are
// accepted, since the result is the same.
func readQueryHints(list []ast.OptimizerHintBase) (queryHints, error) {
	h := queryHints{maxRecursion: -1}
	for _, hint := range list {
		switch hint := hint.(type) {
		case *ast.LiteralOptimizerHint:
			switch hint.HintKind {
			case "MaxRecursion":
				lit, ok := hint.Value.(*ast.IntegerLiteral)
				n := -1
				if ok {
					n, _ = strconv.Atoi(lit.Value)
				}
				if !ok || n < 0 || n > 32767 {
					return h, sqlerr.New(310, 15, 1, "The value given to the MAXRECURSION option is larger than the largest allowed, 32767.").At(tsql.Line(hint))
				}
				h.maxRecursion = n
			case "UsePlan":
				return h, sqlerr.UnsupportedOption("USE PLAN").At(tsql.Line(hint))
			default:
				if !valueHints[strings.ToLower(hint.HintKind)] {
					return h, sqlerr.Syntax(hint.HintKind).At(tsql.Line(hint))
				}
			}
		case *ast.OptimizerHint:
			if hint.HintKind == "ForceOrder" {
				h.forceOrder = true
			} else if !plainHints[strings.ToLower(hint.HintKind)] {
				return h, sqlerr.Syntax(hint.HintKind).At(tsql.Line(hint))
			}
		case *ast.TableHintsOptimizerHint:
			return h, sqlerr.UnsupportedOption("TABLE HINT").At(tsql.Line(hint))
		}
	}
	return h, nil
}
