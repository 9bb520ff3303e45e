package server

import (
	"net"
	"net/netip"
	"testing"
)

func TestParseSocket(t *testing.T) {
	t.Parallel()
	uid, local, remote, ok := parseSocket("   1: 0100007F:C350 0100007F:0599 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0 20 4 30 10 -1")
	if !ok || uid != 1000 || local != netip.MustParseAddrPort("127.0.0.1:50000") || remote != netip.MustParseAddrPort("127.0.0.1:1433") {
		t.Fatal(uid, local, remote, ok)
	}
	_, local, _, ok = parseSocket("   1: 0000000000000000FFFF00000100007F:C350 00000000000000000000000001000000:0599 01 0:0 0:0 0  0 0 1")
	if !ok || local != netip.MustParseAddrPort("127.0.0.1:50000") {
		t.Fatal(local, ok)
	}
	for _, line := range []string{"", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", "0: zz:1 0100007F:1 1 1 1 1 1 1"} {
		if _, _, _, ok := parseSocket(line); ok {
			t.Errorf("%q was accepted", line)
		}
	}
}

func TestSameUser(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s: %v", addr, err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if own, err := sameUser(c.LocalAddr(), c.RemoteAddr()); err != nil || !own {
			t.Errorf("%s: %v, %v", addr, own, err)
		}
		if _, err := sameUser(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, c.RemoteAddr()); err == nil {
			t.Errorf("%s: a socket that does not exist has an owner", addr)
		}
	}
}
