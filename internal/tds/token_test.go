package tds

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// response is one of each token, as a server of that version sends them.
func response(v Version) []byte {
	b := AppendEnvChange(nil, &EnvChange{Type: EnvDatabase, New: "tpcc", Old: "master"})
	b = AppendEnvChange(b, &EnvChange{Type: EnvCollation, NewBytes: DefaultCollation[:]})
	b = AppendEnvChange(b, &EnvChange{Type: EnvBeginTran, NewBytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}})
	b = AppendEnvChange(b, &EnvChange{Type: EnvResetAck})
	b = AppendLoginAck(b, &LoginAck{Interface: 1, Version: v, Program: "Microsoft SQL Server", Major: 16, Build: 4000})
	b = AppendFeatureExtAck(b, []Feature{{FeatureUTF8, []byte{1}}})
	b = AppendMessage(b, v, &ServerMessage{Token: TokenInfo, Number: 5701, State: 2, Class: 10, Text: "Changed.", Server: "S", Line: 1})
	b = AppendMessage(b, v, &ServerMessage{Token: TokenError, Number: 8134, State: 1, Class: 16, Text: "Divide by zero.", Server: "S", Proc: "p", Line: 300})
	cols := []Column{
		{Name: "id", Flags: ColIdentity, Type: TypeInfo{ID: TypeIntN, Size: 4}},
		{Name: "näme", Flags: ColNullable, Type: TypeInfo{ID: TypeNVarChar, Size: 20, Collation: DefaultCollation}},
		{Name: "note", Flags: ColNullable, Type: TypeInfo{ID: TypeText, Size: 0x7FFFFFFF, Collation: DefaultCollation}},
		{Name: "v", Flags: ColNullable, Type: TypeInfo{ID: TypeVariant, Size: 8009}},
		{Name: "max", Flags: ColNullable, Type: TypeInfo{ID: TypeVarBinary, Size: SizeMax}},
		{Name: "t", Type: TypeInfo{ID: TypeDateTime2N, Scale: 3}},
	}
	b = AppendColMetadata(b, v, cols)
	b = AppendInt(append(b, byte(TokenRow)), &cols[0].Type, -2)
	b = AppendString(b, &cols[1].Type, "größer als zehn")
	b = AppendString(b, &cols[2].Type, "text")
	b = AppendVariant(b, &cols[1].Type, func(b []byte) []byte { return AppendString(b, &cols[1].Type, "v") })
	b = AppendBytes(b, &cols[4].Type, []byte{1, 2, 3})
	b = AppendDateTime2(b, &cols[5].Type, 738000, 12345*10000)
	b = append(b, byte(TokenRow))
	for i := range cols {
		b = AppendNull(b, &cols[i].Type)
	}
	b = append(b, byte(TokenNBCRow), 0b111110)
	b = AppendInt(b, &cols[0].Type, 9)
	b = append(b, byte(TokenOrder), 2, 0, 1, 0)
	b = AppendDone(b, v, Done{Token: TokenDoneInProc, Status: DoneMore | DoneCount, Cmd: 0xC1, Count: 3})
	b = AppendReturnStatus(b, -6)
	b = AppendInt(AppendReturnValue(b, v, &ReturnValue{Ordinal: 1, Name: "@o", Status: 1, Type: cols[0].Type}), &cols[0].Type, 5)
	b = AppendSSPI(b, []byte{1, 2})
	return AppendDone(b, v, Done{Token: TokenDone, Status: DoneError})
}

func describe(v Version, b []byte) (string, error) {
	var out strings.Builder
	r := TokenReader{Version: v, Rows: true}
	d := NewDecoder(b)
	for d.Len() > 0 {
		var t Token
		at := d.Offset()
		if err := r.Next(d, &t); err != nil {
			return out.String(), err
		}
		fmt.Fprintf(&out, "%02X", byte(t.ID))
		switch t.ID {
		case TokenRow, TokenNBCRow:
			for i := range r.Values {
				if r.Values[i].Null {
					out.WriteString(" NULL")
				} else {
					fmt.Fprintf(&out, " %x", r.Values[i].Data)
				}
			}
		case TokenColMetadata:
			for _, c := range r.Columns {
				fmt.Fprintf(&out, " %s %s %x;", c.Name, c.Type.Name(), c.Flags)
			}
		case TokenDone, TokenDoneInProc, TokenDoneProc:
			fmt.Fprintf(&out, " %x %x %d", t.Done.Status, t.Done.Cmd, t.Done.Count)
		case TokenError, TokenInfo:
			fmt.Fprintf(&out, " %v %s %s", &t.Message, t.Message.Server, t.Message.Proc)
		case TokenEnvChange:
			fmt.Fprintf(&out, " %d %q %q %x %x", t.Env.Type, t.Env.New, t.Env.Old, t.Env.NewBytes, t.Env.OldBytes)
		case TokenLoginAck:
			fmt.Fprintf(&out, " %+v", t.Ack)
		case TokenReturnValue:
			fmt.Fprintf(&out, " %s %x", t.Return.Name, t.Return.Value.Data)
		case TokenReturnStatus:
			fmt.Fprintf(&out, " %d", t.Status)
		case TokenFeatureExtAck:
			fmt.Fprintf(&out, " %v", t.Features)
		default:
			fmt.Fprintf(&out, " %x", t.Data)
		}
		fmt.Fprintf(&out, "\n\t%x\n", b[at:d.Offset()])
	}
	return out.String(), nil
}

func TestTokensGolden(t *testing.T) {
	t.Parallel()
	for _, v := range []Version{V71, V74} {
		t.Run(v.String(), func(t *testing.T) {
			got, err := describe(v, response(v))
			if err != nil {
				t.Fatalf("after\n%s: %v", got, err)
			}
			file := filepath.Join("testdata", "tokens-"+v.String()+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

// TestTokensInPieces reads a response that arrives byte by byte: a token that
// is not there in full consumes nothing.
func TestTokensInPieces(t *testing.T) {
	t.Parallel()
	b := response(V74)
	for _, rows := range []bool{true, false} {
		r := TokenReader{Version: V74, Rows: rows}
		start, n := 0, 0
		for end := 0; end <= len(b); end++ {
			d := NewDecoder(b[start:end])
			var tok Token
			err := r.Next(d, &tok)
			if errors.Is(err, ErrShort) {
				if d.Offset() != 0 {
					t.Fatalf("%d bytes consumed of a token that is not there", d.Offset())
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Len() != 0 {
				t.Fatalf("a token ends %d bytes early", d.Len())
			}
			start, n = end, n+1
		}
		if start != len(b) || n != 18 {
			t.Fatalf("%d tokens, %d of %d bytes", n, start, len(b))
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	read := func(ti TypeInfo, b []byte) []byte {
		d := NewDecoder(b)
		v := d.ColumnValue(&ti)
		if d.Err() != nil || d.Len() != 0 || v.Null {
			t.Fatalf("%s %x: %+v, %v", ti.Name(), b, v, d.Err())
		}
		return v.Data
	}
	for _, size := range []int{1, 2, 4, 8} {
		ti := TypeInfo{ID: TypeIntN, Size: size}
		want := int64(-3)
		if size == 1 {
			want = 253
		}
		if got := Int(read(ti, AppendInt(nil, &ti, want))); got != want {
			t.Errorf("int of %d bytes: %d", size, got)
		}
	}
	for _, size := range []int{4, 8} {
		m := TypeInfo{ID: TypeMoneyN, Size: size}
		if got := Money(read(m, AppendMoney(nil, &m, -123456))); got != -123456 {
			t.Errorf("money of %d bytes: %d", size, got)
		}
		f := TypeInfo{ID: TypeFloatN, Size: size}
		if got := Float(read(f, AppendFloat(nil, &f, -1.5))); got != -1.5 {
			t.Errorf("float of %d bytes: %v", size, got)
		}
	}
	for scale := range uint8(8) {
		const ticks = 863999999999
		want := int64(ticks / scaleFactor[scale] * scaleFactor[scale])
		ti := TypeInfo{ID: TypeDateTimeOffN, Scale: scale, Size: scaleBytes(scale) + 5}
		day, got, off := DateTimeOffset(read(ti, AppendDateTimeOffset(nil, &ti, 3652058, ticks, -840)), scale)
		if day != 3652058 || got != want || off != -840 {
			t.Errorf("scale %d: %d %d %d", scale, day, got, off)
		}
		tm := TypeInfo{ID: TypeTimeN, Scale: scale, Size: scaleBytes(scale)}
		if got := Time(read(tm, AppendTime(nil, &tm, ticks)), scale); got != want {
			t.Errorf("time(%d): %d", scale, got)
		}
	}
	// money's halves go high word first: -12.3456 is FFFFFFFF 1DC0FEFF
	m := TypeInfo{ID: TypeMoneyN, Size: 8}
	if got := AppendMoney(nil, &m, -123456); !bytes.Equal(got, unhex(t, "08 FFFFFFFF C01DFEFF")) {
		t.Errorf("money %x", got)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add(response(V74), false)
	f.Add(response(V71), true)
	f.Fuzz(func(t *testing.T, b []byte, old bool) {
		v := V74
		if old {
			v = V71
		}
		for _, rows := range []bool{true, false} {
			r := TokenReader{Version: v, Rows: rows}
			d := NewDecoder(b)
			var tok Token
			for d.Len() > 0 {
				at := d.Offset()
				if err := r.Next(d, &tok); err != nil {
					break
				}
				if d.Offset() == at {
					t.Fatal("a token of no bytes")
				}
			}
		}
	})
}
