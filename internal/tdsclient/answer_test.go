package tdsclient_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// The answer with everything, read whole, in reads of every size, in packets that
// are cut at every byte, with and without a sink, is always the same.
func TestEveryTypeAtEveryCut(t *testing.T) {
	t.Parallel()
	payload, rows := every()
	whole := "" // what the sink got when nothing was cut
	check := func(what string, answer []byte, chunk int, sinks ...bool) {
		t.Helper()
		if sinks == nil {
			sinks = []bool{true, false}
		}
		for _, sink := range sinks {
			c := client(&canned{answer: answer, chunk: chunk})
			r := &recorder{}
			var s tdsclient.Sink
			if sink {
				s = r
			}
			for range 2 { // the second time, metadata is known
				r.lines = nil
				out, err := c.Do(context.Background(), tdsclient.Batch("x"), s)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if out.Rows != int64(rows) || out.ResultSets != 2 || out.Affected != 7 || len(out.Errors) != 1 || !out.OpenTran {
					t.Fatalf("%s: %+v", what, out)
				}
				if c.Database() != "db2" || c.Transaction() != 0x0807060504030201 {
					t.Fatalf("%s: database %q, transaction %x", what, c.Database(), c.Transaction())
				}
				switch {
				case !sink:
				case whole == "":
					whole = r.String()
				case r.String() != whole:
					t.Fatalf("%s:\n%s", what, r)
				}
			}
		}
	}
	check("whole", packets(payload), 0)
	golden(t, "every.golden", whole+"\n")
	for n := 1; n < 40; n++ {
		check("reads", packets(payload), n)
	}
	for i := 1; i < len(payload); i++ {
		check("two packets", packets(payload, i), 0, i%8 == 0)
		check("two packets, counted", packets(payload, i), 0, false)
		if i%16 == 0 {
			check("two packets in small reads", packets(payload, i), 9)
		}
	}
	var cuts []int
	for i := 1; i < len(payload); i++ {
		cuts = append(cuts, i)
	}
	check("packets of one byte", packets(payload, cuts...), 0)
	check("an empty packet at the end", packets(payload, len(payload)), 0)
}

// Large values: not held when they are passed over, whole when they are wanted.
func TestLargeValues(t *testing.T) {
	t.Parallel()
	const v = tds.V74
	typ := tds.TypeInfo{ID: tds.TypeNVarChar, Size: tds.SizeMax, Collation: tds.DefaultCollation}
	long := strings.Repeat("0123456789", 50_000)
	b := tds.AppendColMetadata(nil, v, []tds.Column{{Name: "s", Type: typ}})
	for range 3 {
		b = tds.AppendString(append(b, byte(tds.TokenRow)), &typ, long)
	}
	b = tds.AppendDone(b, v, tds.Done{Token: tds.TokenDone, Status: tds.DoneCount, Cmd: 0xC1, Count: 3})
	var cuts []int
	for i := 4088; i < len(b); i += 4088 {
		cuts = append(cuts, i)
	}
	c := client(&canned{answer: packets(b, cuts...)})
	out, err := c.Do(context.Background(), tdsclient.Batch("x"), nil)
	if err != nil || out.Rows != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	r := &recorder{}
	if out, err = c.Do(context.Background(), tdsclient.Batch("x"), r); err != nil || out.Rows != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	if r.lines[1] != "row string("+long+")" {
		t.Errorf("a row of %d characters", len(r.lines[1]))
	}
}

// A CLR type has names in its TYPE_INFO, which nobody needs.
func TestUDT(t *testing.T) {
	t.Parallel()
	b := []byte{byte(tds.TokenColMetadata), 1, 0, 0, 0, 0, 0, 1, 0, byte(tds.TypeUDT), 0x7C, 3}
	for _, name := range []string{"db", "sys", "hierarchyid"} {
		b = tds.AppendUTF16(append(b, byte(len(name))), name)
	}
	b = tds.AppendUTF16(append(b, 3, 0), "asm")
	b = tds.AppendUTF16(append(b, 1), "h")
	b = append(b, byte(tds.TokenRow), 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x58, 0x80, 0, 0, 0, 0)
	b = tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone, Status: tds.DoneCount, Cmd: 0xC1, Count: 1})
	r := &recorder{}
	c := client(&canned{answer: packets(b)})
	if _, err := c.Do(context.Background(), tdsclient.Batch("x"), r); err != nil || r.lines[1] != "row []uint8([88 128])" {
		t.Fatalf("%v\n%s", err, r)
	}
	if out, err := c.Do(context.Background(), tdsclient.Batch("x"), nil); err != nil || out.Rows != 1 {
		t.Fatalf("%v, %+v", err, out)
	}
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	const v = tds.V74
	done := tds.AppendDone(nil, v, tds.Done{Token: tds.TokenDone})
	cat := func(parts ...[]byte) []byte {
		var b []byte
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	one := tds.AppendColMetadata(nil, v, []tds.Column{{Name: "n", Type: tds.TypeInfo{ID: tds.TypeIntN, Size: 4}}})
	for _, tc := range []struct {
		name   string
		answer []byte
		want   string
	}{
		{"nothing", nil, "closed it"},
		{"half a packet", packets(done)[:12], "closed it"},
		{"no DONE", packets(one), "ends early"},
		{"half a token", packets(done[:5]), "ends early"},
		{"more announced", packets(tds.AppendDone(nil, v, tds.Done{Token: tds.TokenDone, Status: tds.DoneMore})), "says that more follows"},
		{"more than announced", packets(cat(done, done)), "follows its last DONE"},
		{"a second message", cat(packets(done), packets(done)), "bytes behind it"},
		{"another kind of packet", []byte{1, 1, 0, 8, 0, 0, 0, 0}, "packet of type 0x01"},
		{"a packet without a header", []byte{4, 1, 0, 7, 0, 0, 0, 0}, "packet of 7 bytes"},
		{"an unknown token", packets([]byte{0x42}), "token 0x42"},
		{"a login's token", packets(tds.AppendSSPI(nil, nil)), "token 0xED"},
		{"a result set in a result set", packets(cat(one, one, done)), "inside another"},
		{"a row without columns", packets(append([]byte{0xD1, 0}, done...)), "row without columns"},
		{"an integer of three bytes", packets(cat(one, []byte{0xD1, 3, 1, 2, 3}, done)), "int of 3 bytes"},
		{"an acknowledgement of nothing", packets(tds.AppendDone(nil, v, tds.Done{Token: tds.TokenDone, Status: tds.DoneAttn})), "was not sent"},
		{"a severe error", packets(tds.AppendDone(nil, v, tds.Done{Token: tds.TokenDone, Status: tds.DoneSrvError})), "severe error"},
		{"routing", packets(cat(tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvRouting, NewBytes: []byte{0}}), done)), "elsewhere"},
		{"a packet size of words", packets(cat(tds.AppendEnvChange(nil, &tds.EnvChange{Type: tds.EnvPacketSize, New: "big"}), done)), "packet size"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, sink := range []tdsclient.Sink{nil, &recorder{}} {
				peer := &canned{answer: tc.answer}
				c := client(peer)
				_, err := c.Do(context.Background(), tdsclient.Batch("x"), sink)
				var lost *tdsclient.LostError
				if !errors.As(err, &lost) || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("%v, want %q", err, tc.want)
				}
				if !peer.closed {
					t.Error("the connection is still open")
				}
				if _, err := c.Do(context.Background(), tdsclient.Batch("x"), sink); !errors.Is(err, tdsclient.ErrClosed) {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}

func TestSinkRefuses(t *testing.T) {
	t.Parallel()
	payload, _ := every()
	peer := &canned{answer: packets(payload)}
	var se *tdsclient.SinkError
	if _, err := client(peer).Do(context.Background(), tdsclient.Batch("x"), &recorder{stop: 2}); !errors.As(err, &se) || !peer.closed {
		t.Errorf("%v", err)
	}
}

func TestFatalErrors(t *testing.T) {
	t.Parallel()
	b := tds.AppendMessage(nil, tds.V74, &tds.ServerMessage{Token: tds.TokenError, Number: 596, Class: 21, Text: "killed"})
	for _, answer := range [][]byte{packets(tds.AppendDone(b, tds.V74, tds.Done{Token: tds.TokenDone, Status: tds.DoneError})), packets(b, len(b))[:len(b)+8]} {
		var lost *tdsclient.LostError
		out, err := client(&canned{answer: answer}).Do(context.Background(), tdsclient.Batch("x"), nil)
		if !errors.As(err, &lost) || lost.Number != 596 || len(out.Errors) != 1 || !strings.Contains(err.Error(), "killed") {
			t.Errorf("%v, %+v", err, out)
		}
	}
}
