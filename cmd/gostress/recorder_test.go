package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"math/big"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"gostress/internal/tds"
)

// recorder is a server that writes down what its clients send, and answers as it is
// told. It knows no SQL.
type recorder struct {
	plain    bool    // it has no encryption
	password string  // of SQL logins
	refuse   *reply  // answers every login, when set
	replies  []reply // the first whose pattern a request matches answers it

	cert tls.Certificate
	ln   net.Listener
	wg   sync.WaitGroup

	mu    sync.Mutex
	used  map[int]int // how often a reply was given
	conns []*recorded
}

// recorded is one connection.
type recorded struct {
	pre      tds.Prelogin
	login    *tds.Login7
	sspiUser string // of a trusted login
	badLogin bool   // the password was wrong
	requests []string
}

// reply is what a request is answered with.
type reply struct {
	on     *regexp.Regexp
	times  int // how often it is given; 0 is always
	rows   int
	number int32 // of an error
	class  uint8
	text   string
	drop   bool // the connection is closed instead
	wait   bool // nothing, until an attention
	begin  bool // a transaction begins, before that
}

// selfSigned is the recorder's certificate, made once.
var selfSigned = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(5), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// start listens on a free port and returns it. The recorder ends with ctx.
func (r *recorder) start(ctx context.Context) (int, error) {
	var err error
	if r.cert, err = selfSigned(); err != nil {
		return 0, err
	}
	if r.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return 0, err
	}
	r.used = map[int]int{}
	context.AfterFunc(ctx, func() { _ = r.ln.Close() })
	r.wg.Go(func() {
		for {
			c, err := r.ln.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() {
				defer c.Close()
				stop := context.AfterFunc(ctx, func() { _ = c.Close() })
				defer stop()
				p := &recorderConn{r: r, raw: c, rw: c, rec: &recorded{}}
				p.wr.Dst = c
				_ = p.serve() // the client went, or was told to
			})
		}
	})
	return r.ln.Addr().(*net.TCPAddr).Port, nil
}

// recorderConn is the recorder's end of a connection.
type recorderConn struct {
	r       *recorder
	raw, rw net.Conn
	rd      tds.Reader
	wr      tds.Writer
	rec     *recorded
}

func (p *recorderConn) send(body []byte) error {
	p.wr.Begin(tds.PacketResponse, 0)
	p.wr.Buf = append(p.wr.Buf, body...)
	return p.wr.End()
}

func (p *recorderConn) serve() error {
	m, err := p.rd.ReadMessage(p.rw)
	if err != nil {
		return err
	}
	if p.rec.pre, err = tds.ParsePrelogin(m.Data); err != nil {
		return err
	}
	p.r.mu.Lock()
	p.r.conns = append(p.r.conns, p.rec)
	p.r.mu.Unlock()
	answer := tds.Prelogin{Version: [6]byte{15, 0, 0x07, 0xD0, 2, 0}, Encryption: p.rec.pre.Encryption}
	if answer.Encryption == tds.EncryptRequired {
		answer.Encryption = tds.EncryptOn
	}
	if p.r.plain {
		answer.Encryption = tds.EncryptNotSupported
	}
	if err := p.send(answer.AppendResponse(nil, p.rec.pre.FedAuth)); err != nil {
		return err
	}
	if answer.Encryption != tds.EncryptNotSupported {
		h := tds.NewHandshakeConn(p.raw)
		c := tls.Server(h, &tls.Config{Certificates: []tls.Certificate{p.r.cert}, MaxVersion: tls.VersionTLS12, SessionTicketsDisabled: true})
		if err := c.Handshake(); err != nil {
			return err
		}
		if err := h.Done(); err != nil {
			return err
		}
		p.rw, p.wr.Dst = c, c
	}
	if err := p.logIn(answer.Encryption); err != nil {
		return err
	}
	for {
		m, err := p.rd.ReadMessage(p.rw)
		if err != nil {
			return err
		}
		if err := p.request(m); err != nil {
			return err
		}
	}
}

func (p *recorderConn) logIn(enc tds.Encryption) error {
	m, err := p.rd.ReadMessage(p.rw)
	if err != nil {
		return err
	}
	l, err := tds.ParseLogin7(m.Data)
	if err != nil {
		return err
	}
	if enc == tds.EncryptOff {
		p.rw, p.wr.Dst = p.raw, p.raw // what follows is in clear
	}
	p.r.mu.Lock()
	p.rec.login = l
	p.r.mu.Unlock()
	if l.Flags2&tds.OptionSecurity != 0 {
		if err := p.send(tds.AppendSSPI(nil, challenge())); err != nil {
			return err
		}
		if m, err = p.rd.ReadMessage(p.rw); err != nil {
			return err
		}
		user := authenticated(m.Data)
		p.r.mu.Lock()
		p.rec.sspiUser = user
		p.r.mu.Unlock()
	} else if l.Password != p.r.password {
		p.r.mu.Lock()
		p.rec.badLogin = true
		p.r.mu.Unlock()
		_ = p.send(append(failure(18456, 14, "Login failed for user '"+l.UserName+"'."), done(tds.TokenDone, tds.DoneError, 0)...))
		return fmt.Errorf("wrong password")
	}
	if f := p.r.refuse; f != nil {
		_ = p.send(append(failure(f.number, f.class, f.text), done(tds.TokenDone, tds.DoneError, 0)...))
		return fmt.Errorf("refused")
	}
	size := tds.NegotiatePacketSize(int(l.PacketSize))
	b := tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvDatabase, New: l.Database})
	b = tds.AppendLoginAck(b, &tds.LoginAck{Interface: 1, Version: tds.V74, Program: "Microsoft SQL Server", Major: 15, Build: 2000})
	b = tds.AppendEnvChange(b, &tds.EnvChange{Type: tds.EnvPacketSize, New: fmt.Sprint(size), Old: "4096"})
	if err := p.send(append(b, done(tds.TokenDone, 0, 0)...)); err != nil {
		return err
	}
	p.wr.SetPacketSize(size)
	return nil
}

// note writes a request down and finds the reply to it.
func (p *recorderConn) note(s string) reply {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.rec.requests = append(p.rec.requests, s)
	for i, a := range p.r.replies {
		if a.on.MatchString(s) && (a.times == 0 || p.r.used[i] < a.times) {
			p.r.used[i]++
			return a
		}
	}
	return reply{}
}

func (p *recorderConn) request(m tds.Message) error {
	switch m.Type {
	case tds.PacketSQLBatch:
		_, text, err := tds.ParseBatch(m.Data, tds.V74)
		if err != nil {
			return err
		}
		if strings.Contains(text, "max_workers_count") { // a large run looks how large the server is
			return p.send(append(rowsOf(1, 512), done(tds.TokenDone, tds.DoneCount, 1)...))
		}
		var ended []byte
		if strings.HasSuffix(text, "ROLLBACK TRAN") {
			ended = tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvRollbackTran, OldBytes: transaction[:]})
		}
		return p.answer(p.note("batch "+text), tds.TokenDone, ended)
	case tds.PacketRPC:
		var rd tds.RPCReader
		if err := rd.Reset(m.Data, tds.V74); err != nil {
			return err
		}
		var c tds.RPC
		for {
			ok, err := rd.Next(&c)
			if err != nil || !ok {
				return err
			}
			r := p.note("rpc " + call(&c))
			if err := p.answer(r, tds.TokenDoneProc, returned(&c)); err != nil {
				return err
			}
		}
	case tds.PacketAttention:
		p.note("attention")
		return p.send(done(tds.TokenDone, tds.DoneAttn, 0))
	}
	p.note(fmt.Sprintf("message %#x", m.Type))
	return p.send(done(tds.TokenDone, 0, 0))
}

// answer carries out r. values stand before the last token.
func (p *recorderConn) answer(r reply, last tds.TokenID, values []byte) error {
	switch {
	case r.drop:
		return fmt.Errorf("dropped")
	case r.wait:
		p.wr.Begin(tds.PacketResponse, 0)
		if r.begin {
			p.wr.Buf = tds.AppendEnvChange(p.wr.Buf, &tds.EnvChange{Type: tds.EnvBeginTran, NewBytes: transaction[:]})
			if err := p.wr.Flush(); err != nil {
				return err
			}
		}
		m, err := p.rd.ReadMessage(p.rw)
		if err != nil {
			return err
		}
		if m.Type != tds.PacketAttention {
			return fmt.Errorf("no attention")
		}
		p.note("attention")
		p.wr.Buf = append(p.wr.Buf, done(last, tds.DoneError, 0)...)
		if err := p.wr.End(); err != nil {
			return err
		}
		return p.send(done(tds.TokenDone, tds.DoneAttn, 0))
	case r.number != 0:
		return p.send(append(failure(r.number, r.class, r.text), done(last, tds.DoneError, 0)...))
	case r.rows > 0:
		b := rowsOf(r.rows, 1)
		if last == tds.TokenDoneProc {
			b = append(b, done(tds.TokenDoneInProc, tds.DoneCount|tds.DoneMore, uint64(r.rows))...)
			return p.send(append(append(b, values...), done(last, 0, 0)...))
		}
		return p.send(append(b, done(last, tds.DoneCount, uint64(r.rows))...))
	}
	return p.send(append(values, done(last, 0, 0)...))
}

// transaction is the descriptor of every transaction.
var transaction = [8]byte{1, 0, 0, 0, 51}

var intType = tds.TypeInfo{ID: tds.TypeIntN, Size: 4}

// rowsOf is a result of n rows of one column, counting from first.
func rowsOf(n int, first int64) []byte {
	b := tds.AppendColMetadata(nil, tds.V74, []tds.Column{{Name: "n", Flags: tds.ColNullable, Type: intType}})
	for i := range n {
		b = tds.AppendInt(append(b, byte(tds.TokenRow)), &intType, first+int64(i))
	}
	return b
}

// returned is what procedures give back: prepared handles, and a status.
func returned(c *tds.RPC) []byte {
	b := tds.AppendReturnStatus(nil, 0)
	for i, prm := range c.Params {
		if prm.Status&tds.ParamOutput == 0 {
			continue
		}
		v := &tds.ReturnValue{Ordinal: uint16(i), Name: prm.Name, Status: 1, Type: intType}
		b = tds.AppendInt(tds.AppendReturnValue(b, tds.V74, v), &intType, 7)
	}
	return b
}

// call renders a procedure call.
func call(c *tds.RPC) string {
	if len(c.Params) == 0 {
		return c.Name
	}
	var args []string
	for _, p := range c.Params {
		s := ""
		switch {
		case p.Table != nil:
			s = fmt.Sprintf("table of %d", p.Table.Len())
		case p.Value.Null:
			s = "NULL"
		case p.Type.ID == tds.TypeIntN || p.Type.ID == tds.TypeInt4 || p.Type.ID == tds.TypeBitN:
			s = fmt.Sprint(tds.Int(p.Value.Data))
		case p.Type.HasCollation():
			s = "'" + p.Type.String(p.Value.Data) + "'"
		default:
			s = fmt.Sprintf("%s %x", p.Type.Name(), p.Value.Data)
		}
		if p.Name != "" {
			s = p.Name + "=" + s
		}
		if p.Status&tds.ParamOutput != 0 {
			s += " out"
		}
		args = append(args, s)
	}
	return c.Name + "(" + strings.Join(args, ", ") + ")"
}

func failure(number int32, class uint8, text string) []byte {
	return tds.AppendMessage(nil, tds.V74, &tds.ServerMessage{Token: tds.TokenError, Number: number, State: 1, Class: class, Text: text, Server: "REC", Line: 1})
}

func done(id tds.TokenID, status uint16, count uint64) []byte {
	return tds.AppendDone(nil, tds.V74, tds.Done{Token: id, Status: status, Count: count})
}

// challenge is an NTLM CHALLENGE message (MS-NLMP 2.2.1.2) without a target's name.
func challenge() []byte {
	const flags = 0x00000001 | 0x00000200 | 0x00080000 | 0x00800000 // Unicode, NTLM, extended security, target info
	b := append([]byte("NTLMSSP\x00"), 2, 0, 0, 0)
	b = append(b, 0, 0, 0, 0, 48, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, flags)
	b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
	b = append(b, make([]byte, 8)...)
	b = append(b, 4, 0, 4, 0, 48, 0, 0, 0)
	return append(b, 0, 0, 0, 0) // the list of target info is empty
}

// authenticated is the user's name in an NTLM AUTHENTICATE message, as the client says it.
func authenticated(b []byte) string {
	if len(b) < 64 {
		return ""
	}
	n, off := int(binary.LittleEndian.Uint16(b[36:])), int(binary.LittleEndian.Uint32(b[40:]))
	if off+n > len(b) {
		return ""
	}
	return tds.DecodeUTF16(b[off : off+n])
}
