package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"gostress/internal/tds"
)

// answering is the server: it lets everybody in and answers at once.
type answering struct {
	cert     tls.Certificate
	done     []byte // to a batch
	rows     []byte // to a batch that begins with SELECT
	called   []byte // to a call
	in, outB atomic.Int64
}

// serve is the child process. It writes the addresses in clear and with TLS, and
// then, for each line it reads, the bytes it has received and sent.
func serve(in io.Reader, out io.Writer) error {
	cert, err := certificate()
	if err != nil {
		return err
	}
	s := &answering{cert: cert}
	s.done = message(tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone}))
	s.rows = message(hundredRows())
	ret := tds.ReturnValue{Status: 1, Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}
	b := tds.AppendReturnStatus(nil, 0)
	b = tds.AppendInt(tds.AppendReturnValue(b, tds.V74, &ret), &ret.Type, 99)
	s.called = message(tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDoneProc, Cmd: 0xE0}))
	for _, encrypt := range []bool{false, true} {
		ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go s.accept(ln, encrypt)
		fmt.Fprintln(out, ln.Addr())
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fmt.Fprintln(out, s.in.Load(), s.outB.Load())
	}
	return lines.Err()
}

// message puts a payload into packets of the usual size.
func message(payload []byte) []byte {
	var b strings.Builder
	w := tds.Writer{Dst: &b, FlushAt: 1 << 20}
	w.Begin(tds.PacketResponse, 0)
	w.Buf = append(w.Buf, payload...)
	_ = w.End() // a strings.Builder takes everything
	return []byte(b.String())
}

const tableRows, tableColumns = 100, 10

func hundredRows() []byte {
	cols := make([]tds.Column, tableColumns)
	for i := range cols {
		cols[i] = tds.Column{Name: fmt.Sprintf("c%d", i), Flags: 1, Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}
		if i%2 == 0 {
			cols[i].Type = tds.TypeInfo{ID: tds.TypeNVarChar, Size: 40, Collation: tds.DefaultCollation}
		}
	}
	b := tds.AppendColMetadata(nil, tds.V74, cols)
	for r := range tableRows {
		b = append(b, byte(tds.TokenRow))
		for i := range cols {
			if i%2 == 0 {
				b = tds.AppendString(b, &cols[i].Type, "some text")
			} else {
				b = tds.AppendInt(b, &cols[i].Type, int64(r))
			}
		}
	}
	return tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone, Status: tds.DoneCount, Cmd: 0xC1, Count: tableRows})
}

func (s *answering) accept(ln net.Listener, encrypt bool) {
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer nc.Close()
			_ = s.session(nc, encrypt) // the client reports what goes wrong
		}()
	}
}

func (s *answering) session(nc net.Conn, encrypt bool) error {
	hello, err := readMessage(nc)
	if err != nil {
		return err
	}
	p, err := tds.ParsePrelogin(hello)
	if err != nil {
		return err
	}
	answer := tds.Prelogin{Version: [6]byte{16}, Encryption: tds.EncryptNotSupported}
	if encrypt {
		answer.Encryption = tds.EncryptOn
	}
	if _, err := nc.Write(message(answer.AppendResponse(nil, p.FedAuth))); err != nil {
		return err
	}
	if encrypt {
		wrap := tds.NewHandshakeConn(nc)
		t := tls.Server(wrap, &tls.Config{Certificates: []tls.Certificate{s.cert}, MaxVersion: tls.VersionTLS12, SessionTicketsDisabled: true})
		if err := t.Handshake(); err != nil {
			return err
		}
		if err := wrap.Done(); err != nil {
			return err
		}
		nc = t
	}
	body, err := readMessage(nc)
	if err != nil {
		return err
	}
	l, err := tds.ParseLogin7(body)
	if err != nil {
		return err
	}
	b := tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvDatabase, New: "master", Old: "master"})
	b = tds.AppendLoginAck(b, &tds.LoginAck{Interface: 1, Version: l.Version, Program: "Microsoft SQL Server", Major: 16})
	b = tds.AppendEnvChange(b, &tds.EnvChange{Type: tds.EnvPacketSize, New: "4096", Old: "4096"})
	if l.Features != nil {
		b = tds.AppendFeatureExtAck(b, nil)
	}
	b = tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone})
	if _, err := nc.Write(message(b)); err != nil {
		return err
	}
	return s.answer(nc)
}

// answer answers messages, which clients send one at a time.
func (s *answering) answer(nc net.Conn) error {
	buf := make([]byte, 8<<10)
	have := 0
	first := true
	answer := s.done
	for {
		n, err := nc.Read(buf[have:])
		if err != nil {
			return err
		}
		s.in.Add(int64(n))
		have += n
		for have >= tds.HeaderSize {
			size := int(buf[2])<<8 | int(buf[3])
			if size < tds.HeaderSize || size > len(buf) {
				return errors.New("a packet that is too large")
			}
			if have < size {
				break
			}
			if first {
				answer = s.done
				const text = tds.HeaderSize + 22
				switch {
				case buf[0] == byte(tds.PacketRPC):
					answer = s.called
				case size > text+12 && string(buf[text:text+12]) == "S\x00E\x00L\x00E\x00C\x00T\x00":
					answer = s.rows
				}
			}
			first = buf[1]&tds.StatusEOM != 0
			have = copy(buf, buf[size:have])
			if first {
				s.outB.Add(int64(len(answer)))
				if _, err := nc.Write(answer); err != nil {
					return err
				}
			}
		}
	}
}

// readMessage reads a message and nothing behind it.
func readMessage(r io.Reader) ([]byte, error) {
	var body []byte
	var head [tds.HeaderSize]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, err
		}
		h, err := tds.ParseHeader(head[:])
		if err != nil {
			return nil, err
		}
		at := len(body)
		body = append(body, make([]byte, h.Length-tds.HeaderSize)...)
		if _, err := io.ReadFull(r, body[at:]); err != nil {
			return nil, err
		}
		if h.Status&tds.StatusEOM != 0 {
			return body, nil
		}
	}
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// child is the running server.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	clear string
	tls   string
}

func start(ctx context.Context) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self, "serve")}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(out)
	for _, addr := range []*string{&c.clear, &c.tls} {
		if !c.out.Scan() {
			return nil, errors.New("the server did not start")
		}
		*addr = c.out.Text()
	}
	return c, nil
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// bytes is what the server has received and sent in all, TLS not counted.
func (c *child) bytes() (received, sent int64, err error) {
	if _, err := fmt.Fprintln(c.in); err != nil {
		return 0, 0, err
	}
	if !c.out.Scan() {
		return 0, 0, errors.New("the server is gone")
	}
	_, err = fmt.Sscan(c.out.Text(), &received, &sent)
	return received, sent, err
}
