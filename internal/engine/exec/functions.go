package exec

import (
	"strconv"
	"strings"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// call is one evaluation of a function of the session or the catalog.
type call struct {
	s    *Session
	db   *catalog.Database // the database of the module
	args []types.Value
}

// function is a function of this package.
type function struct {
	min, max int
	typ      types.Type
	plain    func(s *Session, f *expr.Frame) types.Value // without arguments
	fn       func(c call) (types.Value, error)
}

// str is argument i as text; ok is false when it is missing or NULL.
func (c call) str(i int) (string, bool) {
	if i >= len(c.args) || c.args[i].IsNull() {
		return "", false
	}
	if k := c.args[i].Kind(); k.IsString() {
		return c.args[i].Str(), true
	}
	return types.Format(c.args[i]), true
}

// num is argument i as an integer.
func (c call) num(i int) (int64, bool) {
	if i >= len(c.args) || c.args[i].IsNull() {
		return 0, false
	}
	v, err := types.Assign(c.args[i], types.BigInt)
	return v.Int(), err == nil
}

// current is the session's database, which a module of another one may differ from.
func (c call) current() *catalog.Database { return c.s.db() }

// functions are the functions that need the session or the catalog, by folded
// name.
var functions = map[string]function{
	"scope_identity": {typ: typeIdent, plain: func(s *Session, f *expr.Frame) types.Value { return identityValue(f.Identity) }},
	"rowcount_big":   {typ: types.BigInt, plain: func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindBigInt, s.rowCount) }},
	"xact_state":     {typ: types.SmallInt, plain: func(s *Session, f *expr.Frame) types.Value { return types.NewInt(types.KindSmallInt, s.xactState()) }},
	"current_transaction_id": {typ: types.BigInt, plain: func(s *Session, f *expr.Frame) types.Value {
		return types.NewInt(types.KindBigInt, int64(s.TransactionID()))
	}},
	"error_number":    {typ: typeInt, plain: ofError(func(e *sqlerr.Error) types.Value { return intValue(int64(e.Number)) })},
	"error_severity":  {typ: typeInt, plain: ofError(func(e *sqlerr.Error) types.Value { return intValue(int64(e.Class)) })},
	"error_state":     {typ: typeInt, plain: ofError(func(e *sqlerr.Error) types.Value { return intValue(int64(e.State)) })},
	"error_line":      {typ: typeInt, plain: ofError(func(e *sqlerr.Error) types.Value { return intValue(int64(e.Line)) })},
	"error_message":   {typ: typeNVar4k, plain: ofError(func(e *sqlerr.Error) types.Value { return nameValue(e.Text) })},
	"error_procedure": {typ: typeName, plain: ofError(func(e *sqlerr.Error) types.Value { return optName(e.Proc, e.Proc != "") })},
	"current_user":    {typ: typeName, plain: userName},
	"session_user":    {typ: typeName, plain: userName},
	"user":            {typ: typeName, plain: userName},
	"system_user":     {typ: typeName, plain: loginName},
	"original_login":  {typ: typeName, plain: loginName},
	"host_name":       {typ: typeName, plain: func(s *Session, f *expr.Frame) types.Value { return nameValue(s.opts.Host) }},
	"host_id": {typ: types.Char(10), plain: func(s *Session, f *expr.Frame) types.Value {
		return types.NewString(types.KindChar, pad(strconv.Itoa(s.opts.PID), 10))
	}},
	"app_name":     {typ: typeName, plain: func(s *Session, f *expr.Frame) types.Value { return nameValue(s.opts.App) }},
	"program_name": {typ: typeName, plain: func(s *Session, f *expr.Frame) types.Value { return nameValue(s.opts.App) }},
	"context_info": {typ: types.VarBinary(128), plain: func(s *Session, f *expr.Frame) types.Value {
		if s.set.contextInfo == nil {
			return types.Value{}
		}
		return types.NewBytes(types.KindVarBinary, s.set.contextInfo)
	}},

	"suser_sname": {max: 1, typ: typeName, fn: suserName},
	"suser_name":  {max: 1, typ: typeName, fn: suserName},
	"suser_id":    {max: 1, typ: typeInt, fn: suserID},
	"suser_sid":   {max: 2, typ: types.VarBinary(85), fn: func(c call) (types.Value, error) { return types.NewBytes(types.KindVarBinary, []byte{1}), nil }},
	"user_name": {max: 1, typ: typeName, fn: func(c call) (types.Value, error) {
		if n, ok := c.num(0); ok {
			return optName(map[int64]string{1: "dbo", 2: "guest", 3: "INFORMATION_SCHEMA", 4: "sys"}[n], n >= 1 && n <= 4), nil
		}
		return optName("dbo", len(c.args) == 0), nil
	}},
	"user_id":               {max: 1, typ: typeInt, fn: principalID},
	"database_principal_id": {max: 1, typ: typeInt, fn: principalID},
	"is_srvrolemember":      {min: 1, max: 2, typ: typeInt, fn: serverRole},
	"is_member":             {min: 1, max: 1, typ: typeInt, fn: databaseRole},
	"is_rolemember":         {min: 1, max: 2, typ: typeInt, fn: databaseRole},
	"has_dbaccess": {min: 1, max: 1, typ: typeInt, fn: func(c call) (types.Value, error) {
		n, ok := c.str(0)
		if !ok {
			return types.Value{}, nil
		}
		_, ok = c.s.e.cat.Database(n)
		return optInt(1, ok), nil
	}},
	"has_perms_by_name": {min: 3, max: 5, typ: typeInt, fn: hasPerms},
	"session_context": {min: 1, max: 1, typ: typeVariant, fn: func(c call) (types.Value, error) {
		k, ok := c.str(0)
		if !ok {
			return types.Value{}, nil
		}
		return c.s.context[foldName(k)].value, nil
	}},
	"sessionproperty":    {min: 1, max: 1, typ: typeVariant, fn: sessionProperty},
	"connectionproperty": {min: 1, max: 1, typ: typeVariant, fn: connectionProperty},
	"serverproperty":     {min: 1, max: 1, typ: typeVariant, fn: serverProperty},
	"databasepropertyex": {min: 2, max: 2, typ: typeVariant, fn: databaseProperty},
	"getansinull":        {max: 1, typ: typeInt, fn: func(c call) (types.Value, error) { return intValue(1), nil }},

	"db_id":              {max: 1, typ: types.SmallInt, fn: dbID},
	"db_name":            {max: 1, typ: typeName, fn: dbName},
	"original_db_name":   {typ: typeName, plain: func(s *Session, f *expr.Frame) types.Value { return nameValue(s.start) }},
	"schema_id":          {max: 1, typ: typeInt, fn: schemaID},
	"schema_name":        {max: 1, typ: typeName, fn: schemaName},
	"object_id":          {min: 1, max: 2, typ: typeInt, fn: objectID},
	"object_name":        {min: 1, max: 2, typ: typeName, fn: func(c call) (types.Value, error) { return objectPart(c, func(s, n string) string { return n }) }},
	"object_schema_name": {min: 1, max: 2, typ: typeName, fn: func(c call) (types.Value, error) { return objectPart(c, func(s, n string) string { return s }) }},
	"object_definition":  {min: 1, max: 1, typ: types.NVarChar(types.Max), fn: objectDefinition},
	"type_id":            {min: 1, max: 1, typ: typeInt, fn: typeID},
	"type_name":          {min: 1, max: 1, typ: typeName, fn: typeNameOf},
	"col_name":           {min: 2, max: 2, typ: typeName, fn: colName},
	"col_length":         {min: 2, max: 2, typ: types.SmallInt, fn: colLength},
	"columnproperty":     {min: 3, max: 3, typ: typeInt, fn: columnProperty},
	"objectproperty":     {min: 2, max: 2, typ: typeInt, fn: objectProperty},
	"objectpropertyex":   {min: 2, max: 2, typ: typeVariant, fn: objectProperty},
	"indexproperty":      {min: 3, max: 3, typ: typeInt, fn: indexProperty},
	"index_col":          {min: 3, max: 3, typ: typeName, fn: indexCol},
	"ident_current": {min: 1, max: 1, typ: typeIdent, fn: func(c call) (types.Value, error) {
		return identOf(c, func(id *catalog.Identity) int64 { return identCurrent(id) })
	}},
	"ident_seed": {min: 1, max: 1, typ: typeIdent, fn: func(c call) (types.Value, error) {
		return identOf(c, func(id *catalog.Identity) int64 { return id.Seed })
	}},
	"ident_incr": {min: 1, max: 1, typ: typeIdent, fn: func(c call) (types.Value, error) {
		return identOf(c, func(id *catalog.Identity) int64 { return id.Increment })
	}},
	"filegroup_id":   {min: 1, max: 1, typ: typeInt, fn: fileGroupID},
	"filegroup_name": {min: 1, max: 1, typ: typeName, fn: fileGroupName},
	"file_id":        {min: 1, max: 1, typ: types.SmallInt, fn: fileID},
	"file_idex":      {min: 1, max: 1, typ: typeInt, fn: fileID},
	"file_name":      {min: 1, max: 1, typ: typeName, fn: fileName},
}

// ofError makes a function that tells of the error the innermost CATCH block
// caught.
func ofError(fn func(e *sqlerr.Error) types.Value) func(s *Session, f *expr.Frame) types.Value {
	return func(s *Session, f *expr.Frame) types.Value {
		if len(s.caught) == 0 {
			return types.Value{}
		}
		return fn(s.caught[len(s.caught)-1])
	}
}

func (s *Session) xactState() int64 {
	switch {
	case s.tran.count == 0:
		return 0
	case s.tran.doomed:
		return -1
	}
	return 1
}

func pad(s string, n int) string {
	if len(s) < n {
		s += strings.Repeat(" ", n-len(s))
	}
	return s[:n]
}

func userName(s *Session, f *expr.Frame) types.Value  { return nameValue("dbo") }
func loginName(s *Session, f *expr.Frame) types.Value { return nameValue(s.opts.Login) }

func suserName(c call) (types.Value, error) {
	if len(c.args) == 0 {
		return nameValue(c.s.opts.Login), nil
	}
	if c.args[0].Kind().IsBinary() {
		if b := c.args[0].Bytes(); len(b) == 1 && b[0] == 1 {
			return nameValue("sa"), nil
		}
		return types.Value{}, nil
	}
	n, ok := c.num(0)
	if !ok {
		return types.Value{}, nil
	}
	for _, l := range c.s.e.cat.Logins() {
		if int64(l.ID) == n {
			return nameValue(l.Name), nil
		}
	}
	return types.Value{}, nil
}

func suserID(c call) (types.Value, error) {
	name, ok := c.str(0)
	if len(c.args) == 0 {
		name, ok = c.s.opts.Login, true
	}
	for _, l := range c.s.e.cat.Logins() {
		if ok && catalog.EqualName(l.Name, name) {
			return intValue(int64(l.ID)), nil
		}
	}
	return types.Value{}, nil
}

func principalID(c call) (types.Value, error) {
	n, ok := c.str(0)
	if len(c.args) == 0 {
		return intValue(1), nil
	}
	id := map[string]int64{"dbo": 1, "guest": 2, "information_schema": 3, "sys": 4, "public": 0}
	v, known := id[foldName(n)]
	return optInt(v, ok && known), nil
}

// serverRole: every login of this engine is an administrator.
func serverRole(c call) (types.Value, error) {
	r, ok := c.str(0)
	if !ok {
		return types.Value{}, nil
	}
	switch foldName(r) {
	case "sysadmin", "serveradmin", "securityadmin", "setupadmin", "processadmin", "diskadmin", "dbcreator", "bulkadmin", "public":
		return intValue(1), nil
	}
	return types.Value{}, nil
}

func databaseRole(c call) (types.Value, error) {
	r, ok := c.str(0)
	if !ok {
		return types.Value{}, nil
	}
	switch foldName(r) {
	case "db_owner", "db_accessadmin", "db_securityadmin", "db_ddladmin", "db_backupoperator", "db_datareader", "db_datawriter", "public":
		return intValue(1), nil
	case "db_denydatareader", "db_denydatawriter":
		return intValue(0), nil
	}
	return types.Value{}, nil
}

// hasPerms: everybody may do everything with what is there.
func hasPerms(c call) (types.Value, error) {
	class, classOK := c.str(1)
	if _, ok := c.str(2); !ok {
		return types.Value{}, nil
	}
	if name, ok := c.str(0); ok && classOK && foldName(class) == "object" {
		if _, ok := findObject(c, name); !ok {
			return types.Value{}, nil
		}
	} else if ok && classOK && foldName(class) == "database" {
		if _, ok := c.s.e.cat.Database(strings.Trim(name, "[]")); !ok {
			return types.Value{}, nil
		}
	}
	return intValue(1), nil
}

func sessionProperty(c call) (types.Value, error) {
	n, _ := c.str(0)
	set := &c.s.set
	on, ok := map[string]bool{"ansi_nulls": set.ansiNulls, "ansi_padding": set.ansiPadding, "ansi_warnings": set.ansiWarnings,
		"arithabort": set.arithAbort, "concat_null_yields_null": set.concatNull, "numeric_roundabort": false,
		"quoted_identifier": set.quotedIdent}[foldName(n)]
	if !ok {
		return types.Value{}, nil
	}
	if on {
		return intValue(1), nil
	}
	return intValue(0), nil
}

func connectionProperty(c call) (types.Value, error) {
	n, _ := c.str(0)
	switch foldName(n) {
	case "net_transport", "physical_net_transport":
		return nameValue("TCP"), nil
	case "protocol_type":
		return nameValue("TSQL"), nil
	case "auth_scheme":
		return nameValue(c.s.opts.AuthScheme), nil
	case "client_net_address":
		return optName(c.s.opts.Address, c.s.opts.Address != ""), nil
	}
	return types.Value{}, nil
}

// serverProperty says what the engine is: the version numbers are those of the
// SQL Server whose language it speaks, the edition its own.
func serverProperty(c call) (types.Value, error) {
	n, _ := c.str(0)
	v := strings.Split(productVersion, ".")
	switch foldName(n) {
	case "productversion", "resourceversion":
		return nameValue(productVersion), nil
	case "productmajorversion":
		return nameValue(v[0]), nil
	case "productminorversion":
		return nameValue(v[1]), nil
	case "productbuild":
		return nameValue(v[2]), nil
	case "productlevel":
		return nameValue("RTM"), nil
	case "edition":
		return nameValue("gostress embedded engine"), nil
	case "engineedition":
		return intValue(3), nil
	case "editionid":
		return types.NewInt(types.KindBigInt, 0), nil
	case "servername":
		return nameValue(c.s.e.opts.ServerName), nil
	case "machinename", "computernamephysicalnetbios":
		return nameValue(c.s.e.opts.ServerName), nil
	case "instancename":
		return types.Value{}, nil
	case "collation":
		return nameValue("SQL_Latin1_General_CP1_CI_AS"), nil
	case "collationid":
		return intValue(872468488), nil
	case "lcid":
		return intValue(1033), nil
	case "sqlcharset":
		return types.NewInt(types.KindTinyInt, 1), nil
	case "sqlcharsetname":
		return nameValue("iso_1"), nil
	case "sqlsortorder":
		return types.NewInt(types.KindTinyInt, 52), nil
	case "sqlsortordername":
		return nameValue("nocase_iso"), nil
	case "isxtpsupported":
		return intValue(1), nil
	case "isclustered", "ishadrenabled", "isfulltextinstalled", "isintegratedsecurityonly", "issingleuser", "islocaldb",
		"isadvancedanalyticsinstalled", "ispolybaseinstalled", "filestreamconfiguredlevel", "filestreameffectivelevel", "isbigdatacluster":
		return intValue(0), nil
	case "processid":
		return intValue(int64(processID)), nil
	case "instancedefaultdatapath", "instancedefaultlogpath", "instancedefaultbackuppath":
		return nameValue(dataPath + "/"), nil
	}
	return types.Value{}, nil
}

func databaseProperty(c call) (types.Value, error) {
	name, ok := c.str(0)
	prop, ok2 := c.str(1)
	if !ok || !ok2 {
		return types.Value{}, nil
	}
	db, ok := c.s.e.cat.Database(name)
	if !ok {
		return types.Value{}, nil
	}
	o := db.Options()
	flag := func(b bool) (types.Value, error) {
		if b {
			return intValue(1), nil
		}
		return intValue(0), nil
	}
	switch foldName(prop) {
	case "status":
		return nameValue("ONLINE"), nil
	case "updateability":
		if o.ReadOnly {
			return nameValue("READ_ONLY"), nil
		}
		return nameValue("READ_WRITE"), nil
	case "useraccess":
		switch {
		case o.SingleUser:
			return nameValue("SINGLE_USER"), nil
		case o.RestrictedUser:
			return nameValue("RESTRICTED_USER"), nil
		}
		return nameValue("MULTI_USER"), nil
	case "recovery":
		return nameValue(o.Recovery), nil
	case "collation":
		return nameValue(o.Collation), nil
	case "isxtpsupported", "isfulltextenabled", "isanullsenabled":
		return flag(foldName(prop) == "isxtpsupported")
	case "ismemoryoptimizedelevatetosnapshotenabled":
		return flag(o.ElevateToSnapshot)
	case "isautoclose":
		return flag(o.AutoClose)
	case "isautoshrink":
		return flag(o.AutoShrink)
	case "isautocreatestatistics":
		return flag(o.AutoCreateStats)
	case "isautoupdatestatistics":
		return flag(o.AutoUpdateStats)
	case "isansinullsenabled":
		return flag(o.AnsiNulls)
	case "isquotedidentifiersenabled":
		return flag(o.QuotedIdentifier)
	case "version":
		return intValue(957), nil
	case "lcid":
		return intValue(1033), nil
	case "sqlsortorder":
		return intValue(52), nil
	case "edition":
		return nameValue("gostress embedded engine"), nil
	}
	return types.Value{}, nil
}
