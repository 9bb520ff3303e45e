package server

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// sameUser reports whether the client's socket belongs to the server's own
// user. The kernel lists each socket of a TCP connection with its owner; over
// loopback both ends are there, and the client's is the one whose local address
// is our remote one.
func sameUser(remote, local net.Addr) (bool, error) {
	r, err := addrPort(remote)
	if err != nil {
		return false, err
	}
	l, err := addrPort(local)
	if err != nil {
		return false, err
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		uid, found, err := socketOwner(file, r, l)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		if found {
			return uid == os.Geteuid(), nil
		}
	}
	return false, errors.New("the client's socket is not listed in /proc/net/tcp")
}

func addrPort(a net.Addr) (netip.AddrPort, error) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%s is no TCP address", a)
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port()), nil
}

func socketOwner(file string, local, remote netip.AddrPort) (uid int, found bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		uid, l, r, ok := parseSocket(lines.Text())
		if ok && l == local && r == remote {
			return uid, true, nil
		}
	}
	return 0, false, lines.Err()
}

// parseSocket reads a line such as
//
//	0: 0100007F:0599 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 ...
func parseSocket(line string) (uid int, local, remote netip.AddrPort, ok bool) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return 0, local, remote, false
	}
	local, ok1 := parseHexAddr(f[1])
	remote, ok2 := parseHexAddr(f[2])
	uid, err := strconv.Atoi(f[7])
	return uid, local, remote, ok1 && ok2 && err == nil
}

// parseHexAddr reads an address in hex: words in the machine's byte order, then
// the port.
func parseHexAddr(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	if !ok || len(host) != 8 && len(host) != 32 {
		return netip.AddrPort{}, false
	}
	p, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	var b [16]byte
	n := len(host) / 8
	for i := range n {
		w, err := strconv.ParseUint(host[8*i:8*i+8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, false
		}
		binary.NativeEndian.PutUint32(b[4*i:], uint32(w))
	}
	a, _ := netip.AddrFromSlice(b[:4*n])
	return netip.AddrPortFrom(a.Unmap(), uint16(p)), true
}
