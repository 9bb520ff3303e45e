package exec

import (
	"strings"
	"time"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// systemProc is a procedure of the system.
type systemProc struct {
	name string // filled in when it is looked up
	fn   func(s *Session, a *sysArgs) (int32, []outValue, error)
}

// systemProcs are the system procedures by folded name; others do not exist
// (2812).
var systemProcs map[string]systemProc

// init fills the table: written as its value it would refer to itself through
// sp_executesql.
func init() {
	systemProcs = map[string]systemProc{
		"sp_executesql":             {fn: (*Session).executeSQL},
		"sp_prepare":                {fn: (*Session).spPrepare},
		"sp_execute":                {fn: (*Session).spExecute},
		"sp_prepexec":               {fn: (*Session).spPrepExec},
		"sp_prepexecrpc":            {fn: (*Session).spPrepExecRPC},
		"sp_unprepare":              {fn: (*Session).spUnprepare},
		"sp_reset_connection":       {fn: (*Session).spReset},
		"sp_addextendedproperty":    {fn: func(s *Session, a *sysArgs) (int32, []outValue, error) { return s.extendedProperty(a, "add") }},
		"sp_updateextendedproperty": {fn: func(s *Session, a *sysArgs) (int32, []outValue, error) { return s.extendedProperty(a, "update") }},
		"sp_dropextendedproperty":   {fn: func(s *Session, a *sysArgs) (int32, []outValue, error) { return s.extendedProperty(a, "drop") }},
		"sp_getapplock":             {fn: (*Session).spGetAppLock},
		"sp_releaseapplock":         {fn: (*Session).spReleaseAppLock},
		"sp_set_session_context":    {fn: (*Session).spSetContext},
		"sp_recompile":              {fn: (*Session).spRecompile},
		"sp_rename":                 {fn: (*Session).spRename},
		"sp_helptext":               {fn: (*Session).spHelpText},
		"sp_help":                   {fn: (*Session).spHelp},
		"sp_who":                    {fn: (*Session).spWho},
		"sp_databases":              {fn: (*Session).spDatabases},
		"sp_cursor":                 {fn: (*Session).spCursor},
		"sp_cursoropen":             {fn: (*Session).spCursorOpen},
		"sp_cursorprepare":          {fn: (*Session).spCursorPrepare},
		"sp_cursorexecute":          {fn: (*Session).spCursorExecute},
		"sp_cursorprepexec":         {fn: (*Session).spCursorPrepExec},
		"sp_cursorunprepare":        {fn: (*Session).spUnprepare},
		"sp_cursorfetch":            {fn: (*Session).spCursorFetch},
		"sp_cursoroption":           {fn: (*Session).spCursorOption},
		"sp_cursorclose":            {fn: (*Session).spCursorClose},
	}
}

// sysArgs are the arguments of a system procedure.
type sysArgs struct {
	s      *Session
	name   string
	params []Param
	rpc    bool
}

// find is the position of a parameter: by one of its names, or at.
func (a *sysArgs) find(at int, names ...string) int {
	for i := range a.params {
		for _, n := range names {
			if strings.EqualFold(a.params[i].Name, "@"+n) {
				return i
			}
		}
	}
	if at >= 0 && at < len(a.params) && a.params[at].Name == "" {
		return at
	}
	return -1
}

func (a *sysArgs) nameOf(i int) string {
	if i < len(a.params) {
		return a.params[i].Name
	}
	return ""
}

// text is a parameter as a string; ok is false when it is missing or NULL.
func (a *sysArgs) text(at int, names ...string) (string, bool, error) {
	i := a.find(at, names...)
	if i < 0 && at < len(a.params) && at >= 0 && ordered(a.name) {
		i = at // drivers name these as they like
	}
	if i < 0 || a.params[i].Value.IsNull() {
		return "", false, nil
	}
	v := a.params[i].Value
	if v.Kind().IsString() {
		return v.Str(), true, nil
	}
	if v.Kind().IsBinary() {
		return "", false, sqlerr.New(214, 16, 2, "Procedure expects parameter '@%s' of type 'ntext/nchar/nvarchar'.", names[0])
	}
	return types.Format(v), true, nil
}

// ordered reports the procedures whose parameters count by their places.
func ordered(name string) bool {
	return name == "sp_executesql" || strings.HasPrefix(name, "sp_prep") || strings.HasPrefix(name, "sp_cursor")
}

// integer is a parameter as a number.
func (a *sysArgs) integer(at int, names ...string) (int64, bool, error) {
	i := a.find(at, names...)
	if i < 0 && at == 0 && len(a.params) > 0 {
		i = 0
	}
	if i < 0 || a.params[i].Value.IsNull() {
		return 0, false, nil
	}
	v, err := types.Assign(a.params[i].Value, types.BigInt)
	return v.Int(), err == nil, err
}

// must is text for a parameter that must be given.
func (a *sysArgs) must(at int, names ...string) (string, error) {
	v, ok, err := a.text(at, names...)
	if err == nil && !ok {
		err = sqlerr.MissingParameter(a.name, "@"+names[0])
	}
	return v, err
}

// execSystem runs a system procedure for EXEC.
func (s *Session) execSystem(fr *frame, p *systemProc, args []argument, rcSlot int, rcType types.Type) error {
	a := &sysArgs{s: s, name: p.name}
	for i := range args {
		g := &args[i]
		q := Param{Name: g.name, Output: g.output, Default: g.deflt, Type: g.value.Type}
		switch {
		case g.tslot >= 0:
			q.local, q.localOf = fr.Tables[g.tslot], g.table
		case !g.deflt:
			v, err := g.value.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			q.Value = v
		}
		a.params = append(a.params, q)
	}
	rc, outs, err := p.fn(s, a)
	if err == nil {
		for _, o := range outs {
			if o.at >= len(args) || args[o.at].slot < 0 || !args[o.at].output {
				continue
			}
			v, err := types.Assign(o.value, args[o.at].value.Type)
			if err != nil {
				return err
			}
			fr.Vars[args[o.at].slot] = v
		}
		if rcSlot >= 0 {
			v, err := types.Assign(types.NewInt(types.KindInt, int64(rc)), rcType)
			if err != nil {
				return err
			}
			fr.Vars[rcSlot] = v
		}
	}
	return s.endCall(fr, err, true, rc)
}

// spReset is sp_reset_connection sent as an RPC.
func (s *Session) spReset(a *sysArgs) (int32, []outValue, error) {
	em := s.em
	ctx, done := s.ctx, s.done
	s.Reset(false)
	s.em, s.ctx, s.done = em, ctx, done
	return 0, nil, nil
}

func (s *Session) extendedProperty(a *sysArgs, what string) (int32, []outValue, error) {
	name, err := a.must(0, "name")
	if err != nil {
		return 1, nil, err
	}
	at := 1
	var value types.Value
	if what != "drop" {
		if i := a.find(1, "value"); i >= 0 {
			value = a.params[i].Value
		}
		at = 2
	}
	var levels [6]string
	for i, n := range []string{"level0type", "level0name", "level1type", "level1name", "level2type", "level2name"} {
		if levels[i], _, err = a.text(at+i, n); err != nil {
			return 1, nil, err
		}
	}
	db := s.db()
	target, err := db.PropertyTarget(levels[0], levels[1], levels[2], levels[3], levels[4], levels[5])
	if err != nil {
		return 1, nil, err
	}
	err = s.runDDL(s.newProgram(kindBatch, db), db, false, func(d *catalog.DDL) error {
		switch what {
		case "add":
			return db.AddProperty(d.Undo, target, name, value)
		case "update":
			return db.UpdateProperty(d.Undo, target, name, value)
		}
		return db.DropProperty(d.Undo, target, name)
	})
	if err != nil {
		return 1, nil, err
	}
	return 0, nil, nil
}

func (s *Session) spGetAppLock(a *sysArgs) (int32, []outValue, error) {
	name, err := a.must(0, "Resource")
	if err != nil {
		return -999, nil, err
	}
	modeName, err := a.must(1, "LockMode")
	if err != nil {
		return -999, nil, err
	}
	mode, ok := lockModeOf(modeName)
	if !ok {
		return -999, nil, sqlerr.New(15600, 15, 1, "A parameter or option of procedure '%s' is not valid.", "sp_getapplock")
	}
	owner, ok, _ := a.text(2, "LockOwner")
	tran := !ok || foldName(owner) == "transaction"
	if tran && s.tran.count == 0 {
		return -999, nil, sqlerr.New(1223, 16, 1, "Cannot take the application lock '%s': the lock owner is Transaction and no transaction is open.", name)
	}
	ms, ok, err := a.integer(3, "LockTimeout")
	if err != nil {
		return -999, nil, err
	}
	if !ok || len(a.params) < 4 && a.find(-1, "LockTimeout") < 0 {
		ms = int64(s.set.lockTimeout)
	}
	timeout := time.Duration(-1)
	if ms >= 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	key := foldName(s.Database()) + "\x00" + name
	rc := s.e.locks.acquire(s.ctx, key, lockOwner{s, tran}, mode, timeout)
	s.live.waited()
	if rc == -2 {
		return rc, nil, s.cancelled()
	}
	s.hasTranLocks = s.hasTranLocks || tran && rc >= 0
	return rc, nil, nil
}

func (s *Session) spReleaseAppLock(a *sysArgs) (int32, []outValue, error) {
	name, err := a.must(0, "Resource")
	if err != nil {
		return -999, nil, err
	}
	owner, ok, _ := a.text(1, "LockOwner")
	tran := !ok || foldName(owner) == "transaction"
	if !s.e.locks.release(foldName(s.Database())+"\x00"+name, lockOwner{s, tran}) {
		return -999, nil, sqlerr.New(1223, 16, 1, "Cannot release the application lock '%s': it is not held.", name)
	}
	return 0, nil, nil
}

// contextValue is a value of sp_set_session_context.
type contextValue struct {
	value    types.Value
	readOnly bool
}

func (s *Session) spSetContext(a *sysArgs) (int32, []outValue, error) {
	key, err := a.must(0, "key")
	if err != nil {
		return 1, nil, err
	}
	i := a.find(1, "value")
	if i < 0 {
		return 1, nil, sqlerr.MissingParameter("sp_set_session_context", "@value")
	}
	ro, _, err := a.integerAt(2, "read_only")
	if err != nil {
		return 1, nil, err
	}
	if s.context[foldName(key)].readOnly {
		return 1, nil, sqlerr.New(15664, 16, 1, "Cannot set key '%s' in the session context: it was set as read_only for this session.", key)
	}
	if s.context == nil {
		s.context = map[string]contextValue{}
	}
	s.context[foldName(key)] = contextValue{value: a.params[i].Value, readOnly: ro != 0}
	return 0, nil, nil
}

// integerAt is integer for any position.
func (a *sysArgs) integerAt(at int, names ...string) (int64, bool, error) {
	i := a.find(at, names...)
	if i < 0 || a.params[i].Value.IsNull() {
		return 0, false, nil
	}
	v, err := types.Assign(a.params[i].Value, types.BigInt)
	return v.Int(), err == nil, err
}

// object finds the object that the first argument names, or error 15009.
func (a *sysArgs) object(names ...string) (any, string, error) {
	text, err := a.must(0, names...)
	if err != nil {
		return nil, "", err
	}
	o, ok := findObject(call{s: a.s, db: a.s.db()}, text)
	if !ok {
		return nil, text, sqlerr.New(15009, 16, 1, "The object '%s' is not in database '%s', or is not valid for this operation.", text, a.s.Database())
	}
	return o, text, nil
}

func (s *Session) spRecompile(a *sysArgs) (int32, []outValue, error) {
	_, text, err := a.object("objname")
	if err != nil {
		return 1, nil, err
	}
	s.e.changed()
	return 0, nil, s.info(14222, 1, 0, 1, "Object '"+text+"' was marked for recompilation.")
}

func (s *Session) spHelpText(a *sysArgs) (int32, []outValue, error) {
	o, text, err := a.object("objname")
	if err != nil {
		return 1, nil, err
	}
	def, ok := definition(o)
	if !ok {
		return 1, nil, sqlerr.New(15197, 16, 1, "There is no text for object '%s'.", text)
	}
	return 0, nil, s.table1([]Column{{Name: "Text", Type: types.NVarChar(255), Nullable: true}}, func(emit func(...types.Value) error) error {
		for _, line := range textLines(def) {
			if err := emit(nameValue(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

// textLines cuts a module's text as sp_helptext shows it: a row per line, lines
// of more than 255 characters in pieces.
func textLines(text string) []string {
	var out []string
	for _, line := range strings.SplitAfter(text, "\n") {
		for r := []rune(line); len(r) > 0; {
			n := min(len(r), 255)
			out = append(out, string(r[:n]))
			r = r[n:]
		}
	}
	return out
}

// table1 sends one result set of a system procedure.
func (s *Session) table1(cols []Column, rows func(emit func(...types.Value) error) error) error {
	if err := s.sendColumns(cols); err != nil {
		return err
	}
	var n int64
	err := rows(func(v ...types.Value) error {
		n++
		return s.sendRow(v)
	})
	if err != nil {
		return err
	}
	s.rowCount = n
	if s.capture != nil {
		return nil
	}
	return s.em.done(Done{Kind: DoneInProc, Cmd: CmdSelect, Count: n, HasCount: !s.set.noCount, InTran: s.tran.count > 0})
}

func (s *Session) spHelp(a *sysArgs) (int32, []outValue, error) {
	if a.find(0, "objname") < 0 {
		return 0, nil, s.table1([]Column{{Name: "Name", Type: typeName}, {Name: "Owner", Type: typeName}, {Name: "Object_type", Type: types.NVarChar(31)}},
			func(emit func(...types.Value) error) error {
				for _, t := range s.db().Tables() {
					_, _, name, kind := describe(t)
					if err := emit(nameValue(name), nameValue("dbo"), nameValue(kindNames[kind])); err != nil {
						return err
					}
				}
				for _, p := range s.db().Procedures() {
					if err := emit(nameValue(p.Name), nameValue("dbo"), nameValue(kindNames["P"])); err != nil {
						return err
					}
				}
				return nil
			})
	}
	o, _, err := a.object("objname")
	if err != nil {
		return 1, nil, err
	}
	_, _, name, kind := describe(o)
	created := types.Value{}
	err = s.table1([]Column{{Name: "Name", Type: typeName}, {Name: "Owner", Type: typeName}, {Name: "Type", Type: types.NVarChar(31)}, {Name: "Created_datetime", Type: types.DateTime, Nullable: true}},
		func(emit func(...types.Value) error) error {
			return emit(nameValue(name), nameValue("dbo"), nameValue(kindNames[kind]), created)
		})
	if err != nil {
		return 1, nil, err
	}
	t, ok := o.(*catalog.Table)
	if !ok {
		return 0, nil, nil
	}
	yes := func(b bool) types.Value {
		if b {
			return types.NewString(types.KindVarChar, "yes")
		}
		return types.NewString(types.KindVarChar, "no")
	}
	err = s.table1([]Column{{Name: "Column_name", Type: typeName}, {Name: "Type", Type: typeName}, {Name: "Computed", Type: types.VarChar(35)},
		{Name: "Length", Type: types.Int}, {Name: "Nullable", Type: types.VarChar(35)}}, func(emit func(...types.Value) error) error {
		for _, k := range t.Columns {
			if err := emit(nameValue(k.Name), nameValue(k.Type.Name()), yes(k.Computed != nil), intValue(int64(k.Type.MaxLength())), yes(k.Nullable)); err != nil {
				return err
			}
		}
		return nil
	})
	return 0, nil, err
}

var kindNames = map[string]string{"U": "user table", "V": "view", "P": "stored procedure", "FN": "scalar function", "IF": "inline function",
	"TF": "table function", "PK": "primary key cns", "UQ": "unique cns", "C": "check cns", "D": "default", "F": "foreign key cns", "TT": "table type"}

func (s *Session) spWho(a *sysArgs) (int32, []outValue, error) {
	char := types.NVarChar(128)
	return 0, nil, s.table1([]Column{{Name: "spid", Type: types.SmallInt}, {Name: "ecid", Type: types.SmallInt}, {Name: "status", Type: types.NChar(30)},
		{Name: "loginame", Type: char, Nullable: true}, {Name: "hostname", Type: types.NChar(128)}, {Name: "blk", Type: types.Char(5)},
		{Name: "dbname", Type: char, Nullable: true}, {Name: "cmd", Type: types.NChar(26)}, {Name: "request_id", Type: types.Int}},
		func(emit func(...types.Value) error) error {
			small := func(n int) types.Value { return types.NewInt(types.KindSmallInt, int64(n)) }
			nchar := func(t string, n int) types.Value { return types.NewString(types.KindNChar, pad(t, n)) }
			for _, o := range s.e.list() {
				status, cmd := "sleeping", "AWAITING COMMAND"
				if o.live.active() {
					status, cmd = "runnable", "SELECT"
				}
				if err := emit(small(o.spid), small(0), nchar(status, 30), nameValue(o.opts.Login), nchar(o.opts.Host, 128),
					types.NewString(types.KindChar, pad("0", 5)), nameValue(o.Database()), nchar(cmd, 26), intValue(0)); err != nil {
					return err
				}
			}
			return nil
		})
}

func (s *Session) spDatabases(a *sysArgs) (int32, []outValue, error) {
	return 0, nil, s.table1([]Column{{Name: "DATABASE_NAME", Type: typeName}, {Name: "DATABASE_SIZE", Type: types.Int, Nullable: true}, {Name: "REMARKS", Type: types.VarChar(254), Nullable: true}},
		func(emit func(...types.Value) error) error {
			for _, db := range s.e.cat.Databases() {
				size := int64(0)
				for _, f := range db.Files() {
					size += int64(f.SizePages) * 8
				}
				if err := emit(nameValue(db.Name()), intValue(size), types.Value{}); err != nil {
					return err
				}
			}
			return nil
		})
}

func (s *Session) spRename(a *sysArgs) (int32, []outValue, error) {
	return 1, nil, sqlerr.Unsupported("sp_rename")
}
