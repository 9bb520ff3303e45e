package tds

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// fill gives the reader its bytes a few at a time.
type pieces struct {
	b   []byte
	rng *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := min(1+p.rng.IntN(700), len(b), len(p.b))
	copy(b, p.b[:n])
	p.b = p.b[n:]
	return n, nil
}

func TestWriterReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 513, 4096, 32767} {
		for _, n := range []int{0, 1, size - 9, size - 8, size - 7, 2*size - 16, 2*size - 15, 100_000} {
			payload := bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]
			for _, step := range []int{1 << 30, 37, 5000} {
				var out bytes.Buffer
				w := Writer{Dst: &out, SPID: 51}
				w.SetPacketSize(size)
				w.Begin(PacketRPC, StatusReset)
				for p := payload; len(p) > 0; {
					k := min(step, len(p))
					w.Buf = append(w.Buf, p[:k]...)
					p = p[k:]
					if err := w.Commit(); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.End(); err != nil {
					t.Fatal(err)
				}
				checkPackets(t, out.Bytes(), size)
				r := Reader{}
				m, err := r.ReadMessage(&pieces{out.Bytes(), rand.New(rand.NewPCG(1, uint64(n)))})
				if err != nil || !bytes.Equal(m.Data, payload) || m.Type != PacketRPC {
					t.Fatalf("packets of %d, %d bytes by %d: %v, %d bytes", size, n, step, err, len(m.Data))
				}
				if reset, keep := m.Reset(); !reset || keep || m.Ignored() {
					t.Fatalf("status %02x", m.Status)
				}
			}
		}
	}
}

// checkPackets holds a message to the rules: full packets, numbered, the last
// one marked and not empty unless it is the only one.
func checkPackets(t *testing.T, b []byte, size int) {
	t.Helper()
	for id := byte(1); ; id++ {
		h, err := ParseHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		if h.ID != id || h.SPID != 51 {
			t.Fatalf("packet %d has id %d, SPID %d", id, h.ID, h.SPID)
		}
		if (h.Status&StatusReset != 0) != (id == 1) && id < 200 {
			t.Fatalf("packet %d has status %02x", id, h.Status)
		}
		last := h.Status&StatusEOM != 0
		if !last && h.Length != size || h.Length > size {
			t.Fatalf("packet %d of %d bytes", id, h.Length)
		}
		b = b[h.Length:]
		if last {
			if len(b) != 0 {
				t.Fatalf("%d bytes after the last packet", len(b))
			}
			return
		}
	}
}

func TestReaderSplitAtEveryByte(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := Writer{Dst: &out}
	w.SetPacketSize(512)
	for _, n := range []int{3, 1200, 0} {
		w.Begin(PacketSQLBatch, 0)
		w.Buf = append(w.Buf, strings.Repeat("x", n)...)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	r := Reader{}
	src := iotest.OneByteReader(&out)
	for _, n := range []int{3, 1200, 0} {
		m, err := r.ReadMessage(src)
		if err != nil || len(m.Data) != n {
			t.Fatalf("%d bytes, %v; want %d", len(m.Data), err, n)
		}
	}
	if _, err := r.ReadMessage(src); !errors.Is(err, io.EOF) {
		t.Fatalf("at the end: %v", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		bytes []byte
		max   int
		want  string
	}{
		{"length below the header's", []byte{1, 1, 0, 7, 0, 0, 1, 0}, 0, "smaller than its header"},
		{"another type inside a message", append(Header{Type: 1, Length: 8}.Append(nil), Header{Type: 3, Status: 1, Length: 8}.Append(nil)...), 0, "inside a message"},
		{"too large", append(Header{Type: 1, Status: 1, Length: 20}.Append(nil), make([]byte, 12)...), 10, "larger than the limit"},
		{"too large in pieces", bytes.Repeat(append(Header{Type: 1, Length: 20}.Append(nil), make([]byte, 12)...), 3), 30, "larger than the limit"},
		{"cut in the header", []byte{1, 1, 0}, 0, "unexpected EOF"},
		{"cut in the payload", append(Header{Type: 1, Status: 1, Length: 20}.Append(nil), 1), 0, "unexpected EOF"},
		{"cut between packets", Header{Type: 1, Length: 8}.Append(nil), 0, "unexpected EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Reader{Max: tc.max}
			_, err := r.ReadMessage(bytes.NewReader(tc.bytes))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFlush(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := Writer{Dst: &out}
	w.Begin(PacketResponse, 0)
	w.Buf = append(w.Buf, "abc"...)
	if err := w.Flush(); err != nil || out.Len() != 11 {
		t.Fatalf("%d bytes after a flush, %v", out.Len(), err)
	}
	if err := w.Flush(); err != nil || out.Len() != 11 {
		t.Fatalf("%d bytes after a second flush, %v", out.Len(), err)
	}
	w.Buf = append(w.Buf, "def"...)
	w.Close()
	w.Begin(PacketResponse, 0)
	w.Buf = append(w.Buf, "ghi"...)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	r := Reader{}
	for _, want := range []string{"abcdef", "ghi"} {
		m, err := r.ReadMessage(&out)
		if err != nil || string(m.Data) != want {
			t.Fatalf("%q, %v; want %q", m.Data, err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 1, 0, 8, 0, 0, 1, 0})
	f.Add(append(Header{Type: 1, Length: 9}.Append(nil), 'x', 1, 1, 0, 9, 0, 0, 2, 0, 'y'))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Reader{Max: 1 << 16}
		src := bytes.NewReader(b)
		for {
			m, err := r.ReadMessage(src)
			if err != nil {
				return
			}
			if len(m.Data) > len(b) {
				t.Fatalf("%d bytes out of %d", len(m.Data), len(b))
			}
		}
	})
}
