package server

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"gostress/internal/tds"
)

// raw is a client that speaks TDS by hand.
type raw struct {
	tb   testing.TB
	nc   net.Conn
	rd   tds.Reader
	wr   tds.Writer
	ver  tds.Version
	toks tds.TokenReader
}

// tokens are those of one message, and how the message ended.
type tokens struct {
	list []tds.Token
	rows int
}

func (t tokens) errorNumbers() (n []int32) {
	for i := range t.list {
		if t.list[i].ID == tds.TokenError {
			n = append(n, t.list[i].Message.Number)
		}
	}
	return n
}

func (t tokens) last() tds.Done {
	if len(t.list) == 0 {
		return tds.Done{}
	}
	return t.list[len(t.list)-1].Done
}

func dialRaw(tb testing.TB, r *running) *raw { return dialVersion(tb, r, tds.V74) }

func dialVersion(tb testing.TB, r *running, v tds.Version) *raw {
	return dial(tb, r, v, tds.EncryptNotSupported)
}

func dial(tb testing.TB, r *running, v tds.Version, enc tds.Encryption) *raw {
	tb.Helper()
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		tb.Fatal(err)
	}
	c := &raw{tb: tb, nc: nc, ver: v}
	tb.Cleanup(func() { nc.Close() })
	c.wr.Dst = nc
	c.toks.Version = v
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	pre := tds.Prelogin{Encryption: enc}
	c.wr.Begin(tds.PacketPrelogin, 0)
	c.wr.Buf = pre.AppendRequest(c.wr.Buf)
	c.end()
	m, err := c.rd.ReadMessage(nc)
	if err != nil {
		tb.Fatal(err)
	}
	if p, err := tds.ParsePrelogin(m.Data); err != nil || p.Encryption != enc || p.MARS {
		tb.Fatalf("PRELOGIN answer %+v, %v", p, err)
	}
	if enc == tds.EncryptOn {
		h := tds.NewHandshakeConn(nc)
		c.nc = tls.Client(h, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
		if err := c.nc.(*tls.Conn).Handshake(); err != nil {
			tb.Fatal(err)
		}
		if err := h.Done(); err != nil {
			tb.Fatal(err)
		}
		c.wr.Dst = c.nc
	}
	l := tds.Login7{Version: v, PacketSize: 4096, UserName: "sa", Password: testPassword, HostName: "here", AppName: "raw"}
	c.wr.Begin(tds.PacketLogin7, 0)
	c.wr.Buf = l.Append(c.wr.Buf)
	c.end()
	t := c.answer()
	for i := range t.list {
		if t.list[i].ID == tds.TokenLoginAck {
			return c
		}
	}
	tb.Fatalf("no LOGINACK in %+v", t.list)
	return nil
}

func (c *raw) end() {
	c.tb.Helper()
	if err := c.wr.End(); err != nil {
		c.tb.Fatal(err)
	}
}

func (c *raw) batch(text string) {
	c.tb.Helper()
	c.wr.Begin(tds.PacketSQLBatch, 0)
	c.wr.Buf = tds.AppendUTF16(tds.AppendHeaders(c.wr.Buf, c.ver, 0), text)
	c.end()
}

func (c *raw) attention() {
	c.tb.Helper()
	c.wr.Begin(tds.PacketAttention, 0)
	c.end()
}

// answer reads one message.
func (c *raw) answer() tokens {
	c.tb.Helper()
	m, err := c.rd.ReadMessage(c.nc)
	if err != nil {
		c.tb.Fatal(err)
	}
	var t tokens
	d := tds.NewDecoder(m.Data)
	for d.Len() > 0 {
		var tok tds.Token
		if err := c.toks.Next(d, &tok); err != nil {
			if errors.Is(err, tds.ErrShort) {
				c.tb.Fatalf("a message ends inside a token; so far %+v", t.list)
			}
			c.tb.Fatal(err)
		}
		if tok.ID == tds.TokenRow || tok.ID == tds.TokenNBCRow {
			t.rows++
			continue
		}
		t.list = append(t.list, tok)
	}
	return t
}
