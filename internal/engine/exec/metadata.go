package exec

import (
	"os"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// dataPath is the directory that the catalog shows for database files.
const dataPath = "/var/opt/mssql/data"

var processID = os.Getpid()

// parseName takes the text of an object name apart: up to four parts, quoted
// with brackets or double quotes or not.
func parseName(text string) (*ast.SchemaObjectName, error) {
	parts, err := splitName(text)
	if err != nil {
		return nil, err
	}
	n := &ast.SchemaObjectName{Count: len(parts)}
	at := func(fromEnd int) *ast.Identifier {
		if i := len(parts) - fromEnd; i >= 0 {
			return &ast.Identifier{Value: parts[i]}
		}
		return nil
	}
	n.BaseIdentifier, n.SchemaIdentifier, n.DatabaseIdentifier, n.ServerIdentifier = at(1), at(2), at(3), at(4)
	return n, nil
}

func splitName(text string) ([]string, error) {
	var parts []string
	rest := strings.TrimSpace(text)
	for {
		var part string
		switch {
		case strings.HasPrefix(rest, "["), strings.HasPrefix(rest, `"`):
			closing := byte(']')
			if rest[0] == '"' {
				closing = '"'
			}
			var b strings.Builder
			i := 1
			for ; i < len(rest); i++ {
				if rest[i] == closing {
					if i+1 < len(rest) && rest[i+1] == closing {
						i++
					} else {
						break
					}
				}
				b.WriteByte(rest[i])
			}
			if i >= len(rest) {
				return nil, sqlerr.UnclosedString(text)
			}
			part, rest = b.String(), strings.TrimSpace(rest[i+1:])
		default:
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = strings.TrimSpace(rest[:i]), rest[i:]
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		if rest[0] != '.' {
			return nil, sqlerr.Syntax(rest)
		}
		rest = strings.TrimSpace(rest[1:])
	}
	if len(parts) > 4 {
		return nil, sqlerr.New(117, 15, 1, "The object name '%s' has more than the largest number of prefixes, which is 3.", text)
	}
	return parts, nil
}

// findObject finds an object by the text of its name: *catalog.Table,
// *catalog.Procedure, *catalog.Function, *catalog.Constraint.
func findObject(c call, text string) (any, bool) {
	n, err := parseName(text)
	if err != nil {
		return nil, false
	}
	base := ident(n.BaseIdentifier)
	if strings.HasPrefix(base, "#") {
		t, ok := c.s.temp.Table(base)
		return t, ok
	}
	db := c.db
	if c.db == nil || db != c.current() && c.s.procID() == 0 {
		db = c.current()
	}
	if name := ident(n.DatabaseIdentifier); name != "" {
		var ok bool
		if db, ok = c.s.e.cat.Database(name); !ok {
			return nil, false
		}
		if foldName(name) == "tempdb" && strings.HasPrefix(base, "#") {
			t, ok := c.s.temp.Table(base)
			return t, ok
		}
	}
	return db.Object(ident(n.SchemaIdentifier), base)
}

// describe tells what every object has.
func describe(o any) (id int32, schema, name, kind string) {
	switch o := o.(type) {
	case *catalog.Table:
		kind = "U"
		switch {
		case o.View != nil:
			kind = "V"
		case o.System != nil:
			kind = "V"
		case o.Type:
			kind = "TT"
		}
		return o.ID, o.Schema, o.Name, kind
	case *catalog.Procedure:
		return o.ID, o.Schema, o.Name, "P"
	case *catalog.Function:
		kind = "FN"
		switch o.Kind {
		case catalog.InlineFunction:
			kind = "IF"
		case catalog.TableFunction:
			kind = "TF"
		}
		return o.ID, o.Schema, o.Name, kind
	case *catalog.TableType:
		return o.Table.ID, o.Schema, o.Name, "TT"
	case *catalog.Constraint:
		switch o.Kind {
		case catalog.PrimaryKeyConstraint:
			kind = "PK"
		case catalog.UniqueConstraint:
			kind = "UQ"
		case catalog.CheckConstraint:
			kind = "C"
		case catalog.DefaultConstraint:
			kind = "D"
		case catalog.ForeignKeyConstraint:
			kind = "F"
		}
		return o.ID, o.Schema, o.Name, kind
	}
	return 0, "", "", ""
}

func objectID(c call) (types.Value, error) {
	text, ok := c.str(0)
	if !ok {
		return types.Value{}, nil
	}
	o, ok := findObject(c, text)
	if !ok {
		return types.Value{}, nil
	}
	id, _, _, kind := describe(o)
	if want, ok := c.str(1); ok && !strings.EqualFold(strings.TrimSpace(want), kind) {
		return types.Value{}, nil
	}
	return intValue(int64(id)), nil
}

func (c call) byID(i, db int) (any, bool) {
	id, ok := c.num(i)
	if !ok {
		return nil, false
	}
	d := c.current()
	if n, ok := c.num(db); ok {
		if d, ok = c.s.e.cat.DatabaseByID(int32(n)); !ok {
			return nil, false
		}
	}
	if o, ok := d.ObjectByID(int32(id)); ok {
		return o, true
	}
	t, ok := c.s.temp.ByID(int32(id))
	return t, ok
}

func objectPart(c call, part func(schema, name string) string) (types.Value, error) {
	o, ok := c.byID(0, 1)
	if !ok {
		return types.Value{}, nil
	}
	_, schema, name, _ := describe(o)
	return nameValue(part(schema, name)), nil
}

func objectDefinition(c call) (types.Value, error) {
	o, ok := c.byID(0, 9)
	if !ok {
		return types.Value{}, nil
	}
	text, ok := definition(o)
	return optName(text, ok), nil
}

// definition is the text of a module.
func definition(o any) (string, bool) {
	switch o := o.(type) {
	case *catalog.Procedure:
		return o.Text, true
	case *catalog.Function:
		return o.Text, true
	case *catalog.Table:
		if o.View != nil {
			return o.View.Text, true
		}
	}
	return "", false
}

func dbID(c call) (types.Value, error) {
	db := c.current()
	if len(c.args) > 0 {
		n, ok := c.str(0)
		if !ok {
			return types.Value{}, nil
		}
		if db, ok = c.s.e.cat.Database(n); !ok {
			return types.Value{}, nil
		}
	}
	return types.NewInt(types.KindSmallInt, int64(db.ID)), nil
}

func dbName(c call) (types.Value, error) {
	db := c.current()
	if len(c.args) > 0 {
		n, ok := c.num(0)
		if !ok {
			return types.Value{}, nil
		}
		if db, ok = c.s.e.cat.DatabaseByID(int32(n)); !ok {
			return types.Value{}, nil
		}
	}
	return nameValue(db.Name()), nil
}

func schemaID(c call) (types.Value, error) {
	n, ok := c.str(0)
	if len(c.args) == 0 {
		n, ok = "dbo", true
	}
	if !ok {
		return types.Value{}, nil
	}
	sc, ok := c.current().Schema(n)
	if !ok {
		return types.Value{}, nil
	}
	return intValue(int64(sc.ID)), nil
}

func schemaName(c call) (types.Value, error) {
	if len(c.args) == 0 {
		return nameValue("dbo"), nil
	}
	n, ok := c.num(0)
	if !ok {
		return types.Value{}, nil
	}
	sc, ok := c.current().SchemaByID(int32(n))
	if !ok {
		return types.Value{}, nil
	}
	return nameValue(sc.Name), nil
}

// systemTypeIDs are the user_type_ids of the system types.
var systemTypeIDs = map[string]int64{
	"image": 34, "text": 35, "uniqueidentifier": 36, "date": 40, "time": 41, "datetime2": 42, "datetimeoffset": 43,
	"tinyint": 48, "smallint": 52, "int": 56, "smalldatetime": 58, "real": 59, "money": 60, "datetime": 61, "float": 62,
	"sql_variant": 98, "ntext": 99, "bit": 104, "decimal": 106, "numeric": 108, "smallmoney": 122, "bigint": 127,
	"varbinary": 165, "varchar": 167, "binary": 173, "char": 175, "nvarchar": 231, "nchar": 239, "sysname": 256,
}

func typeID(c call) (types.Value, error) {
	text, ok := c.str(0)
	if !ok {
		return types.Value{}, nil
	}
	n, err := parseName(text)
	if err != nil {
		return types.Value{}, nil
	}
	base, schema := ident(n.BaseIdentifier), ident(n.SchemaIdentifier)
	if schema == "" || foldName(schema) == "sys" {
		if id, ok := systemTypeIDs[foldName(base)]; ok {
			return intValue(id), nil
		}
	}
	if t, ok := c.current().TableType(schema, base); ok {
		return intValue(int64(t.ID)), nil
	}
	if t, ok := c.current().AliasType(schema, base); ok {
		return intValue(int64(t.ID)), nil
	}
	return types.Value{}, nil
}

func typeNameOf(c call) (types.Value, error) {
	id, ok := c.num(0)
	if !ok {
		return types.Value{}, nil
	}
	for n, i := range systemTypeIDs {
		if i == id {
			return nameValue(n), nil
		}
	}
	for _, t := range c.current().TableTypes() {
		if int64(t.ID) == id {
			return nameValue(t.Name), nil
		}
	}
	for _, t := range c.current().AliasTypes() {
		if int64(t.ID) == id {
			return nameValue(t.Name), nil
		}
	}
	return types.Value{}, nil
}

func identCurrent(id *catalog.Identity) int64 {
	if last, ok := id.Last(); ok {
		return last
	}
	return id.Seed
}

func identOf(c call, get func(*catalog.Identity) int64) (types.Value, error) {
	text, ok := c.str(0)
	if !ok {
		return types.Value{}, nil
	}
	o, _ := findObject(c, text)
	t, isTable := o.(*catalog.Table)
	if !isTable || t.Identity == nil {
		return types.Value{}, nil
	}
	return identityValue(types.NewInt(types.KindBigInt, get(t.Identity))), nil
}

func fileGroupID(c call) (types.Value, error) {
	n, ok := c.str(0)
	for _, g := range c.current().FileGroups() {
		if ok && catalog.EqualName(g.Name, n) {
			return intValue(int64(g.ID)), nil
		}
	}
	return types.Value{}, nil
}

func fileGroupName(c call) (types.Value, error) {
	n, ok := c.num(0)
	for _, g := range c.current().FileGroups() {
		if ok && int64(g.ID) == n {
			return nameValue(g.Name), nil
		}
	}
	return types.Value{}, nil
}

func fileID(c call) (types.Value, error) {
	n, ok := c.str(0)
	for _, f := range c.current().Files() {
		if ok && catalog.EqualName(f.Name, n) {
			return intValue(int64(f.ID)), nil
		}
	}
	return types.Value{}, nil
}

func fileName(c call) (types.Value, error) {
	n, ok := c.num(0)
	for _, f := range c.current().Files() {
		if ok && int64(f.ID) == n {
			return nameValue(f.Name), nil
		}
	}
	return types.Value{}, nil
}
