package tdsclient_test

import (
	"bytes"
	"io"
	"net"
	"time"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

// canned is a server that answers each request with the same bytes, so many at a
// read.
type canned struct {
	answer []byte
	chunk  int // 0 = all there is
	left   []byte
	sent   []byte // the last request, if keep is set
	keep   bool
	more   bool // the request being written has more packets
	reads  int
	writes int
	closed bool

	deadlines int // how often one was set
}

func (c *canned) Write(b []byte) (int, error) {
	c.writes++
	if c.keep {
		if !c.more {
			c.sent = c.sent[:0]
		}
		c.sent = append(c.sent, b...)
		for p := b; len(p) >= tds.HeaderSize; {
			c.more = p[1]&tds.StatusEOM == 0
			p = p[int(p[2])<<8|int(p[3]):]
		}
	}
	c.left = c.answer
	return len(b), nil
}

func (c *canned) Read(b []byte) (int, error) {
	c.reads++
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	if c.chunk > 0 && len(b) > c.chunk {
		b = b[:c.chunk]
	}
	n := copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *canned) Close() error                     { c.closed = true; return nil }
func (c *canned) LocalAddr() net.Addr              { return nil }
func (c *canned) RemoteAddr() net.Addr             { return nil }
func (c *canned) SetDeadline(time.Time) error      { c.deadlines++; return nil }
func (c *canned) SetReadDeadline(time.Time) error  { c.deadlines++; return nil }
func (c *canned) SetWriteDeadline(time.Time) error { c.deadlines++; return nil }

func client(c *canned) *tdsclient.Conn { return tdsclient.NewConn(c, tds.DefaultPacketSize) }

// packets puts a payload into packets whose payloads end at the given places.
func packets(payload []byte, cuts ...int) []byte {
	var b bytes.Buffer
	from := 0
	for i, to := range append(cuts, len(payload)) {
		h := tds.Header{Type: tds.PacketResponse, Length: tds.HeaderSize + to - from, ID: byte(i + 1)}
		if i == len(cuts) {
			h.Status = tds.StatusEOM
		}
		b.Write(h.Append(nil))
		b.Write(payload[from:to])
		from = to
	}
	return b.Bytes()
}

// every is an answer with a column of every type, a row of values, a row of NULLs
// with a bitmap, and everything else that an answer may hold.
func every() (payload []byte, rows int) {
	const v = tds.V74
	cols, values := everyType()
	b := tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvBeginTran, NewBytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}})
	b = tds.AppendMessage(b, v, &tds.ServerMessage{Token: tds.TokenInfo, Number: 5701, Class: 10, Text: "Grüße", Server: "s", Line: 3})
	b = tds.AppendColMetadata(b, v, cols)
	b = append(b, byte(tds.TokenOrder), 4, 0, 1, 0, 2, 0)
	b = append(b, byte(tds.TokenRow))
	for _, f := range values {
		b = f(b)
	}
	b = append(b, byte(tds.TokenNBCRow))
	for n := len(cols); n > 0; n -= 8 {
		b = append(b, byte(1<<min(n, 8)-1))
	}
	b = append(b, byte(tds.TokenRow))
	for i := range cols {
		if cols[i].Type.Length() == tds.LengthFixed {
			b = values[i](b)
			continue
		}
		b = tds.AppendNull(b, &cols[i].Type)
	}
	b = tds.AppendDone(b, v, tds.Done{Token: tds.TokenDoneInProc, Status: tds.DoneMore | tds.DoneCount, Cmd: 0xC1, Count: 3})
	one := []tds.Column{{Name: "n", Type: tds.TypeInfo{ID: tds.TypeInt4, Size: 4}}}
	b = tds.AppendColMetadata(b, v, one)
	b = append(b, byte(tds.TokenRow), 42, 0, 0, 0)
	b = append(b, byte(tds.TokenRow), 43, 0, 0, 0)
	b = tds.AppendDone(b, v, tds.Done{Token: tds.TokenDoneInProc, Status: tds.DoneMore | tds.DoneCount, Cmd: 0xC1, Count: 2})
	b = tds.AppendDone(b, v, tds.Done{Token: tds.TokenDoneInProc, Status: tds.DoneMore | tds.DoneCount, Cmd: 0xC3, Count: 7})
	b = tds.AppendMessage(b, v, &tds.ServerMessage{Token: tds.TokenError, Number: 547, Class: 16, State: 2, Text: "no", Server: "s", Proc: "p", Line: 9})
	b = tds.AppendReturnStatus(b, -6)
	out := tds.ReturnValue{Ordinal: 3, Name: "@id", Status: 1, Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}
	b = tds.AppendReturnValue(b, v, &out)
	b = tds.AppendInt(b, &out.Type, 99)
	b = tds.AppendEnvChange(b, &tds.EnvChange{Type: tds.EnvDatabase, New: "db2", Old: "master"})
	b = append(b, byte(tds.TokenSessionState), 3, 0, 0, 0, 1, 2, 3)
	b = tds.AppendDone(b, v, tds.Done{Token: tds.TokenDoneProc, Status: tds.DoneError, Cmd: 0xE0})
	return b, 5
}

func everyType() ([]tds.Column, []func([]byte) []byte) {
	var cols []tds.Column
	var values []func([]byte) []byte
	add := func(name string, t tds.TypeInfo, f func(b []byte, t *tds.TypeInfo) []byte) {
		cols = append(cols, tds.Column{Name: name, Flags: tds.ColNullable, Type: t})
		values = append(values, func(b []byte) []byte { return f(b, &t) })
	}
	raw := func(data ...byte) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, _ *tds.TypeInfo) []byte { return append(b, data...) }
	}
	integer := func(n int64) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendInt(b, t, n) }
	}
	text := func(s string) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendString(b, t, s) }
	}
	data := func(d string) func([]byte, *tds.TypeInfo) []byte {
		return func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendBytes(b, t, []byte(d)) }
	}
	latin, cyrillic := tds.DefaultCollation, tds.Collation{0x19, 0x04, 0xD0, 0, 0}
	add("int1", tds.TypeInfo{ID: tds.TypeInt1, Size: 1}, raw(200))
	add("bit", tds.TypeInfo{ID: tds.TypeBit, Size: 1}, raw(1))
	add("int2", tds.TypeInfo{ID: tds.TypeInt2, Size: 2}, raw(0xFE, 0xFF))
	add("int4", tds.TypeInfo{ID: tds.TypeInt4, Size: 4}, raw(1, 0, 0, 0x80))
	add("int8", tds.TypeInfo{ID: tds.TypeInt8, Size: 8}, raw(1, 0, 0, 0, 0, 0, 0, 0x80))
	add("real fixed", tds.TypeInfo{ID: tds.TypeFloat4, Size: 4}, raw(0, 0, 0xC0, 0x3F))
	add("float fixed", tds.TypeInfo{ID: tds.TypeFloat8, Size: 8}, raw(0, 0, 0, 0, 0, 0, 0xF8, 0x3F))
	add("money fixed", tds.TypeInfo{ID: tds.TypeMoney, Size: 8}, raw(0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF))
	add("smallmoney fixed", tds.TypeInfo{ID: tds.TypeMoney4, Size: 4}, raw(0x39, 0x30, 0, 0))
	add("datetime fixed", tds.TypeInfo{ID: tds.TypeDateTime, Size: 8}, raw(0x10, 0xA0, 0, 0, 0x01, 0, 0, 0))
	add("smalldatetime fixed", tds.TypeInfo{ID: tds.TypeDateTime4, Size: 4}, raw(0x10, 0xA0, 0x3B, 0))
	add("tinyint", tds.TypeInfo{ID: tds.TypeIntN, Size: 1}, integer(255))
	add("smallint", tds.TypeInfo{ID: tds.TypeIntN, Size: 2}, integer(-3))
	add("int", tds.TypeInfo{ID: tds.TypeIntN, Size: 4}, integer(-4))
	add("bigint", tds.TypeInfo{ID: tds.TypeIntN, Size: 8}, integer(1<<62))
	add("bitn", tds.TypeInfo{ID: tds.TypeBitN, Size: 1}, integer(1))
	add("real", tds.TypeInfo{ID: tds.TypeFloatN, Size: 4}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendFloat(b, t, 0.25) })
	add("float", tds.TypeInfo{ID: tds.TypeFloatN, Size: 8}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendFloat(b, t, -1e300) })
	add("money", tds.TypeInfo{ID: tds.TypeMoneyN, Size: 8}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendMoney(b, t, -9223372036854775808) })
	add("smallmoney", tds.TypeInfo{ID: tds.TypeMoneyN, Size: 4}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendMoney(b, t, 5) })
	add("decimal", tds.TypeInfo{ID: tds.TypeDecimalN, Size: 17, Prec: 38, Scale: 10}, func(b []byte, t *tds.TypeInfo) []byte {
		return tds.AppendDecimal(b, t, true, 0xFFFFFFFFFFFFFFFF, 0x4B3B4CA85A86C479)
	})
	add("numeric", tds.TypeInfo{ID: tds.TypeNumericN, Size: 5, Prec: 9, Scale: 9}, func(b []byte, t *tds.TypeInfo) []byte {
		return tds.AppendDecimal(b, t, false, 1, 0)
	})
	add("datetime", tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 8}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDateTime(b, -53690, 25919999) })
	add("smalldatetime", tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 4}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendSmallDateTime(b, 65535, 1439) })
	add("date", tds.TypeInfo{ID: tds.TypeDateN, Size: 3}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDate(b, 3652058) })
	for scale, size := range []int{3, 3, 3, 4, 4, 5, 5, 5} {
		s := uint8(scale)
		add("time", tds.TypeInfo{ID: tds.TypeTimeN, Size: size, Scale: s}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendTime(b, t, 863999999999) })
		add("datetime2", tds.TypeInfo{ID: tds.TypeDateTime2N, Size: size + 3, Scale: s}, func(b []byte, t *tds.TypeInfo) []byte {
			return tds.AppendDateTime2(b, t, 737000, 123456789012)
		})
		add("datetimeoffset", tds.TypeInfo{ID: tds.TypeDateTimeOffN, Size: size + 5, Scale: s}, func(b []byte, t *tds.TypeInfo) []byte {
			return tds.AppendDateTimeOffset(b, t, 737000, 123456789012, -330)
		})
	}
	add("guid", tds.TypeInfo{ID: tds.TypeGUID, Size: 16}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendGUID(b, [16]byte([]byte("0123456789abcdef"))) })
	add("varchar", tds.TypeInfo{ID: tds.TypeVarChar, Size: 20, Collation: latin}, text("café"))
	add("varchar of 1251", tds.TypeInfo{ID: tds.TypeVarChar, Size: 20, Collation: cyrillic}, data("\xcf\xf0\xe8"))
	add("char", tds.TypeInfo{ID: tds.TypeChar, Size: 3, Collation: latin}, text("a  "))
	add("nvarchar", tds.TypeInfo{ID: tds.TypeNVarChar, Size: 40, Collation: latin}, text("日本 😀"))
	add("nchar", tds.TypeInfo{ID: tds.TypeNChar, Size: 4, Collation: latin}, text("ab"))
	add("varbinary", tds.TypeInfo{ID: tds.TypeVarBinary, Size: 8}, data("\x00\x01"))
	add("binary", tds.TypeInfo{ID: tds.TypeBinary, Size: 2}, data("\xfe\xff"))
	add("varchar(max)", tds.TypeInfo{ID: tds.TypeVarChar, Size: tds.SizeMax, Collation: latin}, text("long"))
	add("nvarchar(max)", tds.TypeInfo{ID: tds.TypeNVarChar, Size: tds.SizeMax, Collation: latin}, func(b []byte, t *tds.TypeInfo) []byte {
		// Of unknown length, in three chunks that cut a character in two.
		b = append(b, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF)
		return append(b, 3, 0, 0, 0, 'a', 0, 0xE5, 1, 0, 0, 0, 0x65, 2, 0, 0, 0, 'b', 0, 0, 0, 0, 0)
	})
	add("varbinary(max)", tds.TypeInfo{ID: tds.TypeVarBinary, Size: tds.SizeMax}, data(""))
	add("xml", tds.TypeInfo{ID: tds.TypeXML, Size: tds.SizeMax}, text("<a/>"))
	add("text", tds.TypeInfo{ID: tds.TypeText, Size: 1<<31 - 1, Collation: latin}, text("old"))
	add("ntext", tds.TypeInfo{ID: tds.TypeNText, Size: 1<<31 - 1, Collation: latin}, text("ülder"))
	add("image", tds.TypeInfo{ID: tds.TypeImage, Size: 1<<31 - 1}, data("\xca\xfe"))
	variant := func(t tds.TypeInfo, f func([]byte, *tds.TypeInfo) []byte) {
		add("variant", tds.TypeInfo{ID: tds.TypeVariant, Size: 8009}, func(b []byte, _ *tds.TypeInfo) []byte {
			return tds.AppendVariant(b, &t, func(b []byte) []byte { return f(b, &t) })
		})
	}
	variant(tds.TypeInfo{ID: tds.TypeIntN, Size: 4}, integer(-7))
	variant(tds.TypeInfo{ID: tds.TypeNVarChar, Size: 40, Collation: latin}, text("variant"))
	variant(tds.TypeInfo{ID: tds.TypeDateTime2N, Size: 8, Scale: 7}, func(b []byte, t *tds.TypeInfo) []byte { return tds.AppendDateTime2(b, t, 1, 1) })
	return cols, values
}
