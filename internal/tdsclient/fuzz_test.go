package tdsclient_test

import (
	"context"
	"errors"
	"testing"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

// An answer of any bytes never panics, and counting it comes to the same as
// reading it; what is not understood closes the connection.
func FuzzAnswer(f *testing.F) {
	payload, _ := every()
	f.Add(packets(payload), uint8(0))
	f.Add(packets(payload, 100, 200, 333), uint8(7))
	f.Add(packets(hundredRows(), 4088), uint8(0))
	f.Add(packets(orderAnswer()), uint8(1))
	f.Add(packets(tds.AppendDone(nil, tds.V74, tds.Done{Token: tds.TokenDone, Status: tds.DoneAttn})), uint8(0))
	f.Fuzz(func(t *testing.T, answer []byte, chunk uint8) {
		var outs [2]tdsclient.Outcome
		var errs [2]error
		for i, sink := range []tdsclient.Sink{nil, &recorder{}} {
			peer := &canned{answer: answer, chunk: int(chunk)}
			outs[i], errs[i] = client(peer).Do(context.Background(), tdsclient.Batch("x"), sink)
			var lost *tdsclient.LostError
			if errs[i] != nil && (!errors.As(errs[i], &lost) || !peer.closed) {
				t.Fatalf("%v, closed %v", errs[i], peer.closed)
			}
		}
		// Values that are passed over are not looked into: only a sink finds that one is malformed.
		if errs[0] != nil && errs[1] == nil {
			t.Fatalf("%v when counted only", errs[0])
		}
		if errs[1] != nil {
			return
		}
		a, b := outs[0], outs[1]
		if a.Rows != b.Rows || a.ResultSets != b.ResultSets || a.Affected != b.Affected || a.OpenTran != b.OpenTran || len(a.Errors) != len(b.Errors) {
			t.Fatalf("%+v when counted, %+v when read", a, b)
		}
	})
}

// A login whose answers are any bytes ends in an error or in a connection.
func FuzzLogin(f *testing.F) {
	hello := tds.Prelogin{Version: [6]byte{16}, Encryption: tds.EncryptNotSupported}
	ack := tds.AppendLoginAck(nil, &tds.LoginAck{Interface: 1, Version: tds.V74, Program: "p"})
	ack = tds.AppendEnvChange(ack, &tds.EnvChange{Type: tds.EnvPacketSize, New: "4096", Old: "4096"})
	ack = tds.AppendDone(ack, tds.V74, tds.Done{Token: tds.TokenDone})
	f.Add(packets(hello.AppendResponse(nil, true)), packets(ack))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		peer := &canned{answer: first}
		l := tdsclient.NewLogin(peer, tdsclient.LoginOptions{Encrypt: tds.EncryptNotSupported})
		ask := tds.Prelogin{Encryption: tds.EncryptNotSupported}
		h := tds.Header{Type: tds.PacketPrelogin, Status: tds.StatusEOM, ID: 1}
		body := ask.AppendRequest(nil)
		h.Length = tds.HeaderSize + len(body)
		if _, err := l.Write(append(h.Append(nil), body...)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		for {
			n, err := l.Read(buf)
			if err != nil {
				break
			}
			if n == 0 {
				t.Fatal("a read of nothing")
			}
		}
		peer.answer = second
		if _, err := l.Write([]byte{1}); err == nil {
			for {
				if _, err := l.Read(buf); err != nil {
					break
				}
			}
		}
		if c, facts, err := l.Take(); err == nil && (c.PacketSize() != facts.PacketSize || facts.PacketSize < tds.MinPacketSize) {
			t.Fatalf("%+v", facts)
		}
	})
}
