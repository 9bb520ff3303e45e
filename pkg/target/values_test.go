package target

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

// request opens a session, carries r out, and returns the message that it made.
func request(t *testing.T, w Wire, r *driver.Request) (tds.PacketType, []byte, error) {
	t.Helper()
	type message struct {
		typ  tds.PacketType
		data []byte
	}
	got := make(chan message, 1)
	s := open(t, w, func(p *peer) {
		m, err := p.rd.ReadMessage(p.rw)
		if err != nil {
			close(got)
			return
		}
		got <- message{m.Type, append([]byte(nil), m.Data...)}
		p.send(tds.AppendReturnStatus(nil, 0), doneToken(tds.TokenDoneProc, 0))
		p.wait()
	})
	if _, err := do(t, s, context.Background(), r, nil); err != nil {
		s.Close()
		return 0, nil, err
	}
	m := <-got
	return m.typ, m.data, nil
}

const headers = 22 // bytes of ALL_HEADERS

// TestCallBytes checks a call byte by byte: by name, parameters by position, each
// of exactly its type.
func TestCallBytes(t *testing.T) { overWires(t, testCallBytes) }

func testCallBytes(t *testing.T, w Wire) {
	due := time.Date(2024, 2, 29, 13, 14, 15, 123456700, time.UTC)
	r := &driver.Request{Kind: driver.RPC, Proc: "Sales.usp_InsertSalesOrder_inmem", Params: []driver.Param{
		{Type: driver.SQLType{Name: "int"}, Output: true},
		{Type: driver.SQLType{Name: "datetime2", Scale: 7}, Value: due},
		{Type: driver.SQLType{Name: "int"}, Value: int64(-2)},
		{Type: driver.SQLType{Name: "smallint"}, Value: int64(300)},
		{Type: driver.SQLType{Name: "tinyint"}, Value: int64(255)},
		{Type: driver.SQLType{Name: "bigint"}, Value: int64(1) << 40},
		{Type: driver.SQLType{Name: "bit"}, Value: true},
		{Value: &driver.Table{Schema: "Sales", Name: "Detail", Columns: []driver.SQLType{{Name: "smallint"}, {Name: "int"}, {Name: "int"}},
			Rows: [][]any{{int64(1), int64(2), int64(3)}, {int64(-1), int64(1 << 30), int64(7)}}}},
	}}
	typ, data, err := request(t, w, r)
	if err != nil || typ != tds.PacketRPC {
		t.Fatal(typ, err)
	}
	got := hex.EncodeToString(data[headers:])
	utf16 := func(s string) string { return hex.EncodeToString(tds.AppendUTF16(nil, s)) }
	want := strings.Join([]string{
		"2000", utf16("Sales.usp_InsertSalesOrder_inmem"), "0000",
		"00" + "01" + "2604" + "00",                           // int output, NULL
		"00" + "00" + "2a07" + "08" + "07c4aaf46e" + "80460b", // datetime2(7)
		"00" + "00" + "2604" + "04" + "feffffff",              // int
		"00" + "00" + "2602" + "02" + "2c01",                  // smallint
		"00" + "00" + "2601" + "01" + "ff",                    // tinyint
		"00" + "00" + "2608" + "08" + "0000000000010000",      // bigint
		"00" + "00" + "6801" + "01" + "01",                    // bit
		"00" + "00" + "f3" + "00" + "05" + utf16("Sales") + "06" + utf16("Detail") + // TVP
			"0300" + "00000000" + "0000" + "2602" + "00" + "00000000" + "0000" + "2604" + "00" + "00000000" + "0000" + "2604" + "00" +
			"00" + "01" + "020100" + "0402000000" + "0403000000" + "01" + "02ffff" + "0400000040" + "0407000000" + "00",
	}, "")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// The same through the decoder.
	var rd tds.RPCReader
	var c tds.RPC
	if err := rd.Reset(data, tds.V74); err != nil {
		t.Fatal(err)
	}
	if ok, err := rd.Next(&c); !ok || err != nil || rd.More() {
		t.Fatal(ok, err)
	}
	days, ticks := tds.DateTime2(c.Params[1].Value.Data, 7)
	if back := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)).Add(time.Duration(ticks) * 100); !back.Equal(due) {
		t.Errorf("the datetime2 is %v", back)
	}
	for i, p := range c.Params {
		if p.Name != "" {
			t.Errorf("parameter %d has the name %q", i+1, p.Name)
		}
	}
	if !c.Params[0].Value.Null || c.Params[0].Status != tds.ParamOutput {
		t.Errorf("the output parameter is %+v", c.Params[0])
	}
}

func TestParameters(t *testing.T) { overWires(t, testParameters) }

func testParameters(t *testing.T, w Wire) {
	const sent = "sent" // over the tds wire, which knows more types
	str := func(name string, n int32) driver.SQLType { return driver.SQLType{Name: name, Len: n} }
	tests := map[string]struct {
		param driver.Param
		typ   tds.TypeID
		size  int
		value string // hexadecimal; "NULL"
		err   string
		own   string // the same over the tds wire, if it differs
	}{
		"int NULL":         {driver.Param{Type: driver.SQLType{Name: "int"}}, tds.TypeIntN, 4, "NULL", "", ""},
		"smallint NULL":    {driver.Param{Type: driver.SQLType{Name: "smallint"}}, tds.TypeIntN, 2, "NULL", "", ""},
		"tinyint NULL":     {driver.Param{Type: driver.SQLType{Name: "tinyint"}}, tds.TypeIntN, 1, "NULL", "", ""},
		"bigint NULL":      {driver.Param{Type: driver.SQLType{Name: "bigint"}}, tds.TypeIntN, 8, "NULL", "", ""},
		"bit NULL":         {driver.Param{Type: driver.SQLType{Name: "bit"}}, tds.TypeBitN, 1, "NULL", "", ""},
		"float":            {driver.Param{Type: driver.SQLType{Name: "float"}, Value: 1.5}, tds.TypeFloatN, 8, "000000000000f83f", "", ""},
		"float NULL":       {driver.Param{Type: driver.SQLType{Name: "float"}}, tds.TypeFloatN, 8, "NULL", "", ""},
		"nvarchar":         {driver.Param{Type: str("nvarchar", 10), Value: "aé"}, tds.TypeNVarChar, -2, "6100e900", "", ""},
		"nvarchar(max)":    {driver.Param{Type: str("nvarchar", -1), Value: "ab"}, tds.TypeNVarChar, tds.SizeMax, "61006200", "", ""},
		"nvarchar NULL":    {driver.Param{Type: str("nvarchar", 10)}, tds.TypeNVarChar, -2, "NULL", "", ""},
		"varchar":          {driver.Param{Type: str("varchar", 10), Value: "aé€Ж"}, tds.TypeVarChar, -2, "61e9803f", "", ""},
		"varchar(max)":     {driver.Param{Type: str("varchar", -1), Value: "é"}, tds.TypeVarChar, tds.SizeMax, "e9", "", ""},
		"varbinary":        {driver.Param{Type: str("varbinary", 10), Value: []byte{1, 2}}, tds.TypeVarBinary, -2, "0102", "", ""},
		"date":             {driver.Param{Type: driver.SQLType{Name: "date"}, Value: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}, tds.TypeDateN, -2, "010000", "", ""},
		"date NULL":        {driver.Param{Type: driver.SQLType{Name: "date"}}, tds.TypeDateN, -2, "NULL", "", ""},
		"datetime2 NULL":   {driver.Param{Type: driver.SQLType{Name: "datetime2", Scale: 7}}, tds.TypeDateTime2N, -2, "NULL", "", ""},
		"datetime":         {driver.Param{Type: driver.SQLType{Name: "datetime"}, Value: time.Date(1900, 1, 2, 0, 0, 1, 0, time.UTC)}, tds.TypeDateTimeN, 8, "010000002c010000", "", ""},
		"uniqueidentifier": {driver.Param{Type: driver.SQLType{Name: "uniqueidentifier"}, Value: "00112233-4455-6677-8899-AABBCCDDEEFF"}, tds.TypeGUID, 16, "33221100554477668899aabbccddeeff", "", ""},

		"int too large":     {driver.Param{Type: driver.SQLType{Name: "int"}, Value: int64(1) << 31}, 0, 0, "", "2147483648 does not fit a int", ""},
		"tinyint below 0":   {driver.Param{Type: driver.SQLType{Name: "tinyint"}, Value: int64(-1)}, 0, 0, "", "-1 does not fit a tinyint", ""},
		"int of a string":   {driver.Param{Type: driver.SQLType{Name: "int"}, Value: "1"}, 0, 0, "", "a string cannot be sent as int", ""},
		"datetime2(3)":      {driver.Param{Type: driver.SQLType{Name: "datetime2", Scale: 3}, Value: time.Now()}, 0, 0, "", "cannot be sent as datetime2", sent},
		"decimal":           {driver.Param{Type: driver.SQLType{Name: "decimal", Prec: 10, Scale: 2}, Value: "1.00"}, 0, 0, "", "a string cannot be sent as decimal through go-mssqldb", sent},
		"no such GUID":      {driver.Param{Type: driver.SQLType{Name: "uniqueidentifier"}, Value: "x"}, 0, 0, "", `"x" is not a uniqueidentifier`, "is no uniqueidentifier"},
		"table of nvarchar": {driver.Param{Value: &driver.Table{Schema: "s", Name: "t", Columns: []driver.SQLType{{Name: "nvarchar"}}}}, 0, 0, "", "column 1 of table type s.t: nvarchar cannot be sent", sent},
		"ragged table":      {driver.Param{Value: &driver.Table{Schema: "s", Name: "t", Columns: []driver.SQLType{{Name: "int"}}, Rows: [][]any{{}}}}, 0, 0, "", "row 1 of table type s.t has 0 values for 1 columns", "has 0 values for 1 columns"},
		"NULL in a table":   {driver.Param{Value: &driver.Table{Schema: "s", Name: "t", Columns: []driver.SQLType{{Name: "int"}}, Rows: [][]any{{nil}}}}, 0, 0, "", "a NULL cannot be sent", sent},
		"table type's name": {driver.Param{Value: &driver.Table{Schema: "s", Name: "a.b", Columns: []driver.SQLType{{Name: "int"}}}}, 0, 0, "", "wrong tvp name", sent},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			typ, data, err := request(t, w, &driver.Request{Kind: driver.RPC, Proc: "dbo.p", Params: []driver.Param{tt.param}})
			if tt.own != "" && w == WireTDS {
				tt.err = tt.own
			}
			if tt.err == sent {
				if err != nil || typ != tds.PacketRPC {
					t.Errorf("got %v", err)
				}
				return
			}
			if tt.err != "" {
				var fatal *driver.FatalError
				if !errors.As(err, &fatal) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v; want a FatalError with %q", err, tt.err)
				}
				return
			}
			if err != nil || typ != tds.PacketRPC {
				t.Fatal(typ, err)
			}
			var rd tds.RPCReader
			var c tds.RPC
			if err := rd.Reset(data, tds.V74); err != nil {
				t.Fatal(err)
			}
			if ok, err := rd.Next(&c); !ok || err != nil || len(c.Params) != 1 || c.Name != "dbo.p" {
				t.Fatal(ok, err, c)
			}
			p := c.Params[0]
			value := hex.EncodeToString(p.Value.Data)
			if p.Value.Null {
				value = "NULL"
			}
			if p.Type.ID != tt.typ || tt.size != -2 && p.Type.Size != tt.size || value != tt.value {
				t.Errorf("got %+v %s; want %#x, %d, %s", p.Type, value, tt.typ, tt.size, tt.value)
			}
		})
	}
}

// TestFatalKeepsSession: a request that was never sent harms nothing.
func TestFatalKeepsSession(t *testing.T) { overWires(t, testFatalKeepsSession) }

func testFatalKeepsSession(t *testing.T, w Wire) {
	s := answer(t, w, done(0))
	bad := &driver.Request{Kind: driver.RPC, Proc: "p", Params: []driver.Param{{Value: &driver.Table{Name: "a.b.c", Columns: []driver.SQLType{{Name: "int"}}, Rows: [][]any{{"x"}}}}}}
	var fatal *driver.FatalError
	if _, err := do(t, s, context.Background(), bad, nil); !errors.As(err, &fatal) {
		t.Fatalf("got %v", err)
	}
	if _, err := do(t, s, context.Background(), text("select 1"), nil); err != nil {
		t.Error(err)
	}
}

// TestRequests tells batches from calls.
func TestRequests(t *testing.T) { overWires(t, testRequests) }

func testRequests(t *testing.T, w Wire) {
	rpc := func(name string) *driver.Request { return &driver.Request{Kind: driver.RPC, Proc: name} }
	tests := map[string]struct {
		r    *driver.Request
		name string // of an RPC
		text string // of a batch, without the blank in front
		err  string
	}{
		"batch":                     {r: text("select 1"), text: "select 1"},
		"a word":                    {r: text("sp_who"), text: "sp_who"},
		"a name in brackets":        {r: text("[a b]"), text: "[a b]"},
		"lines in brackets":         {r: text("[a\nb]"), text: "[a\nb]"},
		"an open bracket":           {r: text("[a"), text: "[a"},
		"like a bulk copy":          {r: text("insertbulkload 1, 2"), text: "insertbulkload 1, 2"},
		"like a bulk copy, a word":  {r: text("INSERTBULKX"), text: "INSERTBULKX"},
		"empty":                     {r: text(""), text: ""},
		"words in Cyrillic":         {r: text("привет"), text: "привет"},
		"call":                      {r: rpc("dbo.usp_x"), name: "dbo.usp_x"},
		"call of one part":          {r: rpc("usp_x"), name: "usp_x"},
		"call of four parts":        {r: rpc("a.b.c.d"), name: "a.b.c.d"},
		"call without schema":       {r: rpc("db..p"), name: "db..p"},
		"call in brackets":          {r: rpc("[my db].[a'b;c].[x]]y]"), name: "[my db].[a'b;c].[x]]y]"},
		"call of a temporary one":   {r: rpc("#p"), name: "#p"},
		"call like a bulk copy":     {r: rpc("InsertBulkOrders"), name: "[InsertBulkOrders]"},
		"call like a command":       {r: rpc("Checkpoint"), name: "[Checkpoint]"},
		"sp_reset_connection":       {r: rpc("sp_reset_connection"), name: "sp_reset_connection"},
		"call of five parts":        {r: rpc("a.b.c.d.e"), err: "is not a procedure's name"},
		"call of a batch":           {r: rpc("exec p"), err: "is not a procedure's name"},
		"call of nothing":           {r: rpc(""), err: "is not a procedure's name"},
		"call with a trailing dot":  {r: rpc("a."), err: "is not a procedure's name"},
		"call with an open bracket": {r: rpc("[a"), err: "is not a procedure's name"},
		"call with more":            {r: rpc("[a]b"), err: "is not a procedure's name"},
		"call with a quote":         {r: rpc("a'b"), err: "is not a procedure's name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if w == WireTDS && tt.name != "" {
				tt.name = tt.r.Proc // only go-mssqldb needs to be told that it is a name
			}
			typ, data, err := request(t, w, tt.r)
			switch {
			case tt.err != "":
				var fatal *driver.FatalError
				if !errors.As(err, &fatal) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v; want %q", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case tt.name != "":
				var rd tds.RPCReader
				var c tds.RPC
				if typ != tds.PacketRPC {
					t.Fatalf("it went out as a message of type %#x", typ)
				}
				if err := rd.Reset(data, tds.V74); err != nil {
					t.Fatal(err)
				}
				if _, err := rd.Next(&c); err != nil || c.Name != tt.name {
					t.Errorf("got %q, %v", c.Name, err)
				}
			default:
				_, got, err := tds.ParseBatch(data, tds.V74)
				if typ != tds.PacketSQLBatch || err != nil || strings.TrimPrefix(got, " ") != tt.text {
					t.Errorf("got %#x %q, %v", typ, got, err)
				}
			}
		})
	}
}

// TestParameterisedText goes through sp_executesql.
func TestParameterisedText(t *testing.T) { overWires(t, testParameterisedText) }

func testParameterisedText(t *testing.T, w Wire) {
	typ, data, err := request(t, w, &driver.Request{Text: "select @a, @b", Params: []driver.Param{
		{Name: "@a", Type: driver.SQLType{Name: "int"}, Value: int64(1)}, {Name: "@b", Type: driver.SQLType{Name: "datetime2", Scale: 7}},
	}})
	if err != nil || typ != tds.PacketRPC {
		t.Fatal(typ, err)
	}
	var rd tds.RPCReader
	var c tds.RPC
	if err := rd.Reset(data, tds.V74); err != nil {
		t.Fatal(err)
	}
	if _, err := rd.Next(&c); err != nil || c.ProcID != tds.ProcExecuteSQL || len(c.Params) != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	got := []string{c.Params[0].Type.String(c.Params[0].Value.Data), c.Params[1].Type.String(c.Params[1].Value.Data), c.Params[2].Name, c.Params[3].Name}
	if d := cmp.Diff([]string{"select @a, @b", "@a int,@b datetime2(7)", "@a", "@b"}, got); d != "" {
		t.Error(d)
	}
}

// TestValues reads a value of every type, and a NULL of it.
func TestValues(t *testing.T) { overWires(t, testValues) }

func testValues(t *testing.T, w Wire) {
	latin := tds.DefaultCollation
	day := int32(738944) // 2024-02-29
	noon := int64(13*3600+14*60+15)*1e7 + 1234567
	guid := [16]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF}
	at := time.Date(2024, 2, 29, 13, 14, 15, 123456700, time.UTC)
	type col struct {
		name  string
		typ   tds.TypeInfo
		add   func(b []byte, t *tds.TypeInfo) []byte
		want  any
		named driver.SQLType
	}
	str := func(s string) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendString(b, t, s) }
	}
	num := func(v int64) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendInt(b, t, v) }
	}
	bin := func(v ...byte) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendBytes(b, t, v) }
	}
	cols := []col{
		{"bit", tds.TypeInfo{ID: tds.TypeBitN, Size: 1}, num(1), true, driver.SQLType{Name: "bit"}},
		{"tinyint", tds.TypeInfo{ID: tds.TypeIntN, Size: 1}, num(200), int64(200), driver.SQLType{Name: "tinyint"}},
		{"smallint", tds.TypeInfo{ID: tds.TypeIntN, Size: 2}, num(-3), int64(-3), driver.SQLType{Name: "smallint"}},
		{"int", tds.TypeInfo{ID: tds.TypeIntN, Size: 4}, num(-4), int64(-4), driver.SQLType{Name: "int"}},
		{"bigint", tds.TypeInfo{ID: tds.TypeIntN, Size: 8}, num(-1 << 50), int64(-1 << 50), driver.SQLType{Name: "bigint"}},
		{"decimal", tds.TypeInfo{ID: tds.TypeDecimalN, Prec: 38, Scale: 4, Size: 17}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDecimal(b, t, true, 123456, 0) }, "-12.3456", driver.SQLType{Name: "decimal", Prec: 38, Scale: 4}},
		{"numeric", tds.TypeInfo{ID: tds.TypeNumericN, Prec: 5, Scale: 2, Size: 5}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDecimal(b, t, false, 5, 0) }, "0.05", driver.SQLType{Name: "decimal", Prec: 5, Scale: 2}},
		{"money", tds.TypeInfo{ID: tds.TypeMoneyN, Size: 8}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendMoney(b, t, -10001) }, "-1.0001", driver.SQLType{Name: "money"}},
		{"smallmoney", tds.TypeInfo{ID: tds.TypeMoneyN, Size: 4}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendMoney(b, t, 500) }, "0.0500", driver.SQLType{Name: "smallmoney"}},
		{"float", tds.TypeInfo{ID: tds.TypeFloatN, Size: 8}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendFloat(b, t, 1.25) }, 1.25, driver.SQLType{Name: "float"}},
		{"real", tds.TypeInfo{ID: tds.TypeFloatN, Size: 4}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendFloat(b, t, 0.5) }, 0.5, driver.SQLType{Name: "real"}},
		{"char", tds.TypeInfo{ID: tds.TypeChar, Size: 3, Collation: latin}, str("a\u00e9 "), "aé ", driver.SQLType{Name: "char", Len: 3}},
		{"varchar", tds.TypeInfo{ID: tds.TypeVarChar, Size: 10, Collation: latin}, str("€"), "€", driver.SQLType{Name: "varchar", Len: 10}},
		{"varchar(max)", tds.TypeInfo{ID: tds.TypeVarChar, Size: tds.SizeMax, Collation: latin}, str(strings.Repeat("x", 9000)), strings.Repeat("x", 9000), driver.SQLType{Name: "varchar", Len: -1}},
		{"nchar", tds.TypeInfo{ID: tds.TypeNChar, Size: 6, Collation: latin}, str("Жa "), "Жa ", driver.SQLType{Name: "nchar", Len: 3}},
		{"nvarchar", tds.TypeInfo{ID: tds.TypeNVarChar, Size: 50, Collation: latin}, str("Ж😀"), "Ж😀", driver.SQLType{Name: "nvarchar", Len: 25}},
		{"nvarchar(max)", tds.TypeInfo{ID: tds.TypeNVarChar, Size: tds.SizeMax, Collation: latin}, str("long"), "long", driver.SQLType{Name: "nvarchar", Len: -1}},
		{"binary", tds.TypeInfo{ID: tds.TypeBinary, Size: 2}, bin(1, 2), []byte{1, 2}, driver.SQLType{Name: "binary", Len: 2}},
		{"varbinary", tds.TypeInfo{ID: tds.TypeVarBinary, Size: 8}, bin(0xFF), []byte{0xFF}, driver.SQLType{Name: "varbinary", Len: 8}},
		{"varbinary(max)", tds.TypeInfo{ID: tds.TypeVarBinary, Size: tds.SizeMax}, bin(9, 8), []byte{9, 8}, driver.SQLType{Name: "varbinary", Len: -1}},
		{"uniqueidentifier", tds.TypeInfo{ID: tds.TypeGUID, Size: 16}, func(b []byte, _ *tds.TypeInfo) []byte { return tds.AppendGUID(b, guid) }, "00112233-4455-6677-8899-AABBCCDDEEFF", driver.SQLType{Name: "uniqueidentifier"}},
		{"date", tds.TypeInfo{ID: tds.TypeDateN, Size: 3}, func(b []byte, _ *tds.TypeInfo) []byte { return tds.AppendDate(b, day) }, at.Truncate(24 * time.Hour), driver.SQLType{Name: "date"}},
		{"time(7)", tds.TypeInfo{ID: tds.TypeTimeN, Size: 5, Scale: 7}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendTime(b, t, noon) }, time.Date(1, 1, 1, 13, 14, 15, 123456700, time.UTC), driver.SQLType{Name: "time", Scale: 7}},
		{"datetime2(7)", tds.TypeInfo{ID: tds.TypeDateTime2N, Size: 8, Scale: 7}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDateTime2(b, t, day, noon) }, at, driver.SQLType{Name: "datetime2", Scale: 7}},
		{"datetime2(0)", tds.TypeInfo{ID: tds.TypeDateTime2N, Size: 6, Scale: 0}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDateTime2(b, t, day, noon) }, at.Truncate(time.Second), driver.SQLType{Name: "datetime2"}},
		{"datetimeoffset(7)", tds.TypeInfo{ID: tds.TypeDateTimeOffN, Size: 10, Scale: 7}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDateTimeOffset(b, t, day, noon, 60) }, at.In(time.FixedZone("", 3600)), driver.SQLType{Name: "datetimeoffset", Scale: 7}},
		{"datetime", tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 8}, func(b []byte, _ *tds.TypeInfo) []byte { return tds.AppendDateTime(b, 45349, 300*60) }, time.Date(2024, 2, 29, 0, 1, 0, 0, time.UTC), driver.SQLType{Name: "datetime"}},
		{"smalldatetime", tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 4}, func(b []byte, _ *tds.TypeInfo) []byte { return tds.AppendSmallDateTime(b, 45349, 61) }, time.Date(2024, 2, 29, 1, 1, 0, 0, time.UTC), driver.SQLType{Name: "smalldatetime"}},
		{"sql_variant", tds.TypeInfo{ID: tds.TypeVariant, Size: 8009}, func(b []byte, _ *tds.TypeInfo) []byte {
			i := tds.TypeInfo{ID: tds.TypeInt4, Size: 4}
			return tds.AppendVariant(b, &i, func(b []byte) []byte { return tds.AppendInt(b, &i, 77) })
		}, int64(77), driver.SQLType{Name: "sql_variant"}},
	}
	meta := make([]tds.Column, len(cols))
	row, nulls := []byte{byte(tds.TokenRow)}, []byte{byte(tds.TokenRow)}
	for i := range cols {
		meta[i] = tds.Column{Name: cols[i].name, Flags: tds.ColNullable, Type: cols[i].typ}
		row = cols[i].add(row, &cols[i].typ)
		nulls = tds.AppendNull(nulls, &cols[i].typ)
	}
	s := answer(t, w, tds.AppendColMetadata(nil, tds.V74, meta), row, nulls, done(0))
	var got []driver.Column
	l := &log{}
	sink := &columnsOf{log: l, cols: &got}
	if _, err := do(t, s, context.Background(), text("select 1"), sink); err != nil {
		t.Fatal(err)
	}
	if len(l.rows) != 2 || len(got) != len(cols) {
		t.Fatalf("%d rows of %d columns", len(l.rows), len(got))
	}
	for i, c := range cols {
		if d := cmp.Diff(c.want, l.rows[0][i], cmp.Comparer(func(a, b time.Time) bool {
			_, x := a.Zone()
			_, y := b.Zone()
			return a.Equal(b) && x == y
		})); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if l.rows[1][i] != nil {
			t.Errorf("%s: NULL is %v", c.name, l.rows[1][i])
		}
		g := got[i]
		if w == WireTDS && c.name == "numeric" {
			c.named.Name = "numeric" // go-mssqldb knows no difference
		}
		if g.Name != c.name || !g.Nullable || g.Type.Name != c.named.Name || c.named.Len != 0 && g.Type.Len != c.named.Len ||
			g.Type.Prec != c.named.Prec && c.named.Prec != 0 || g.Type.Scale != c.named.Scale {
			t.Errorf("%s: the column is %+v; want %+v", c.name, g, c.named)
		}
	}
}

type columnsOf struct {
	*log
	cols *[]driver.Column
}

func (s *columnsOf) Event(e driver.SinkEvent) error {
	if e.Kind == driver.SinkColumns {
		*s.cols = e.Columns
	}
	return s.log.Event(e)
}

func FuzzProcedureName(f *testing.F) {
	for _, s := range []string{"a.b", "[a]", "[a]].b]", "..", "a..b", "insertbulkx", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := procedureName(s); err == nil && (got == "" || strings.Trim(got, "[]") != strings.Trim(s, "[]")) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
