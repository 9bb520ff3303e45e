package tds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "abc", "abcd", "abcdefg", "abcdefé", "é", "日本語", "a🙂b", strings.Repeat("select ", 100) + "ü"} {
		b := AppendUTF16(nil, s)
		if got := DecodeUTF16(b); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if UTF16Len(s) != len(b)/2 {
			t.Errorf("%q has %d units, not %d", s, len(b)/2, UTF16Len(s))
		}
	}
	if got := DecodeUTF16([]byte{0x00, 0xD8, 'a', 0}); got != "\uFFFDa" {
		t.Errorf("a lone surrogate became %q", got)
	}
	if got := DecodeChar(AppendChar(nil, "na\u00efve €日", DefaultCollation), DefaultCollation); got != "naïve €?" {
		t.Errorf("code page 1252: %q", got)
	}
	utf8 := Collation{9, 4, 0xD0, 4, 0}
	if got := DecodeChar(AppendChar(nil, "日", utf8), utf8); got != "日" {
		t.Errorf("a UTF-8 collation: %q", got)
	}
}

// TestBatchBytes is the request of MS-TDS 4.4.
func TestBatchBytes(t *testing.T) {
	t.Parallel()
	text := "\nselect 'foo' as 'bar'\n        "
	want := append(unhex(t, "16000000 12000000 0200 0000000000000000 01000000"), AppendUTF16(nil, text)...)
	got := AppendUTF16(AppendHeaders(nil, V74, 0), text)
	if !bytes.Equal(got, want) {
		t.Fatalf("got  %x\nwant %x", got, want)
	}
	h, back, err := ParseBatch(got, V74)
	if err != nil || back != text || h.Requests != 1 {
		t.Fatalf("%q, %+v, %v", back, h, err)
	}
	if _, back, err := ParseBatch(AppendUTF16(AppendHeaders(nil, V71, 0), text), V71); err != nil || back != text {
		t.Fatalf("TDS 7.1: %q, %v", back, err)
	}
}

func TestTransactionRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []Transaction{
		{Request: TranBegin, Isolation: 5, Name: "tän"},
		{Request: TranCommit},
		{Request: TranCommit, Begin: true, NextIso: 2, NextName: "n"},
		{Request: TranRollback, Name: "sp"},
		{Request: TranSave, Name: "sp"},
	} {
		want.Headers = Headers{Transaction: 0x1122334455667788, Requests: 1}
		b := appendTransaction(nil, &want)
		got, err := ParseTransaction(b, V74)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		for n := range len(b) {
			if _, err := ParseTransaction(b[:n], V74); err == nil {
				t.Errorf("request %d accepted when cut at %d", want.Request, n)
			}
		}
	}
}

// appendTransaction is ParseTransaction's reverse.
func appendTransaction(b []byte, t *Transaction) []byte {
	b = AppendHeaders(b, V74, t.Headers.Transaction)
	b = binary.LittleEndian.AppendUint16(b, uint16(t.Request))
	name := func(s string) {
		s = truncateUTF16(s, 127)
		b = AppendUTF16(append(b, byte(2*UTF16Len(s))), s)
	}
	switch t.Request {
	case TranBegin:
		b = append(b, t.Isolation)
		name(t.Name)
	case TranCommit, TranRollback:
		name(t.Name)
		if !t.Begin {
			return append(b, 0)
		}
		b = append(b, 1, t.NextIso)
		name(t.NextName)
	case TranSave:
		name(t.Name)
	}
	return b
}

// appendRPCSeparator appends what stands between two calls of one message.
func appendRPCSeparator(b []byte, v Version) []byte {
	if v.Has72() {
		return append(b, rpcBatchFlag)
	}
	return append(b, rpcBatchFlag71)
}

// appendNullTableParam appends a table-valued parameter without columns or rows.
func appendNullTableParam(b []byte, name, schema, typ string) []byte {
	b = append(appendBVarChar(b, name), 0, byte(TypeTable), 0)
	b = appendBVarChar(appendBVarChar(b, schema), typ)
	return append(b, 0xFF, 0xFF, tvpEnd, tvpEnd)
}

// order is a call with a table of two rows, between an int and an output.
func order() []byte {
	intn := TypeInfo{ID: TypeIntN, Size: 4}
	str := TypeInfo{ID: TypeNVarChar, Size: SizeMax, Collation: DefaultCollation}
	dec := TypeInfo{ID: TypeDecimalN, Size: 9, Prec: 18, Scale: 2}
	b := AppendHeaders(nil, V74, 0)
	b = AppendRPC(b, &RPC{Name: "Sales.usp_Insert"})
	b = AppendInt(AppendParam(b, "@id", 0, &intn), &intn, 7)
	b = AppendTableParam(b, "@lines", "Sales", "LineType", []Column{{Type: intn}, {Type: str, Flags: ColNullable}, {Type: dec}})
	b = AppendTableRow(b)
	b = AppendInt(b, &intn, 1)
	b = AppendString(b, &str, "first")
	b = AppendDecimal(b, &dec, true, 12345, 0)
	b = AppendTableRow(b)
	b = AppendNull(b, &intn)
	b = AppendNull(b, &str)
	b = AppendNull(b, &dec)
	b = AppendTableEnd(b)
	b = AppendNull(AppendParam(b, "@out", ParamOutput, &intn), &intn)
	b = appendRPCSeparator(b, V74)
	b = AppendRPC(b, &RPC{ProcID: ProcExecuteSQL, Options: RPCNoMetadata})
	b = AppendString(AppendParam(b, "", 0, &str), &str, "select 1")
	b = appendRPCSeparator(b, V74)
	b = AppendRPC(b, &RPC{Name: "p"})
	return appendNullTableParam(b, "@t", "", "")
}

func TestRPC(t *testing.T) {
	t.Parallel()
	msg := order()
	var r RPCReader
	var c RPC
	if err := r.Reset(msg, V74); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Next(&c); !ok || err != nil || !r.More() {
		t.Fatalf("%v, %v", ok, err)
	}
	if c.Name != "Sales.usp_Insert" || len(c.Params) != 3 || Int(c.Params[0].Value.Data) != 7 || c.Params[2].Status != ParamOutput {
		t.Fatalf("%+v", c)
	}
	tab := c.Params[1].Table
	if tab.Len() != 2 || tab.Schema != "Sales" || tab.Name != "LineType" || len(tab.Columns) != 3 {
		t.Fatalf("%+v", tab)
	}
	n := 0
	err := tab.Rows(func(v []Raw) error {
		if n == 0 {
			neg, coef := Decimal(v[2].Data)
			if Int(v[0].Data) != 1 || DecodeUTF16(v[1].Data) != "first" || !neg || binary.LittleEndian.Uint64(coef) != 12345 {
				t.Errorf("row %v", v)
			}
		} else if !v[0].Null || !v[1].Null || !v[2].Null {
			t.Errorf("row %v", v)
		}
		n++
		return nil
	})
	if err != nil || n != 2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if ok, err := r.Next(&c); !ok || err != nil || c.Name != "sp_executesql" || c.ProcID != ProcExecuteSQL || c.Options != RPCNoMetadata {
		t.Fatalf("%+v, %v", c, err)
	}
	if ok, err := r.Next(&c); !ok || err != nil || c.Name != "p" || c.Params[0].Table != nil || !c.Params[0].Value.Null {
		t.Fatalf("%+v, %v", c, err)
	}
	if ok, err := r.Next(&c); ok || err != nil || r.More() {
		t.Fatalf("after the last call: %v, %v", ok, err)
	}
	for n := range len(msg) {
		var r RPCReader
		err := r.Reset(msg[:n], V74)
		for ok := err == nil; ok; {
			ok, err = r.Next(&c)
		}
		if errors.Is(err, ErrShort) {
			t.Fatalf("cut at %d: the error does not say where", n)
		}
	}
}

func TestRPC71(t *testing.T) {
	t.Parallel()
	intn := TypeInfo{ID: TypeIntN, Size: 4}
	b := AppendRPC(nil, &RPC{Name: "p1"})
	b = AppendInt(AppendParam(b, "", 0, &intn), &intn, 1)
	b = appendRPCSeparator(b, V71)
	b = AppendRPC(b, &RPC{Name: "p2"})
	var r RPCReader
	var c RPC
	if err := r.Reset(b, V71); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p1", "p2"} {
		if ok, err := r.Next(&c); !ok || err != nil || c.Name != name {
			t.Fatalf("%v, %v, %+v", ok, err, c)
		}
	}
}

func TestPLPChunks(t *testing.T) {
	t.Parallel()
	str := TypeInfo{ID: TypeVarBinary, Size: SizeMax}
	for name, tc := range map[string]struct{ in, want string }{
		"two chunks, total unknown": {"FEFFFFFFFFFFFFFF 02000000 0102 01000000 03 00000000", "010203"},
		"total told":                {"0300000000000000 02000000 0102 01000000 03 00000000", "010203"},
		"empty":                     {"0000000000000000 00000000", ""},
		"total wrong":               {"0400000000000000 02000000 0102 00000000", "error"},
		"chunk beyond the message":  {"FEFFFFFFFFFFFFFF FFFFFF7F 00", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(unhex(t, tc.in))
			v := d.ParamValue(&str)
			if tc.want == "error" {
				if d.Err() == nil {
					t.Fatal("accepted")
				}
				return
			}
			if d.Err() != nil || v.Null || !bytes.Equal(v.Data, unhex(t, tc.want)) {
				t.Fatalf("%+v, %v", v, d.Err())
			}
		})
	}
}

func FuzzRPC(f *testing.F) {
	f.Add(order(), false)
	f.Add(AppendRPC(nil, &RPC{Name: "p"}), true)
	f.Fuzz(func(t *testing.T, b []byte, old bool) {
		v := V74
		if old {
			v = V71
		}
		var r RPCReader
		var c RPC
		if r.Reset(b, v) != nil {
			return
		}
		for {
			ok, err := r.Next(&c)
			if !ok || err != nil {
				return
			}
			for i := range c.Params {
				p := &c.Params[i]
				if p.Type.ID == TypeVariant && !p.Value.Null {
					_, _, _ = Variant(p.Value.Data)
				}
				if p.Table == nil {
					continue
				}
				n := 0
				if err := p.Table.Rows(func([]Raw) error { n++; return nil }); err != nil || n != p.Table.Len() {
					t.Fatalf("%d of %d rows, %v", n, p.Table.Len(), err)
				}
			}
		}
	})
}

func FuzzTransaction(f *testing.F) {
	f.Add(appendTransaction(nil, &Transaction{Request: TranCommit, Begin: true, Name: "x", NextName: "y"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = ParseTransaction(b, V74)
		_, _, _ = ParseBatch(b, V74)
	})
}
