package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"strings"
	"sync"
	"time"
)

func hashUsers(users map[string]string) map[string][32]byte {
	m := make(map[string][32]byte, len(users))
	for name, password := range users {
		m[strings.ToLower(name)] = sha256.Sum256([]byte(password))
	}
	return m
}

// checkPassword takes the same time whether the login exists or not.
func (s *server) checkPassword(user, password string) bool {
	want, known := s.users[strings.ToLower(user)]
	got := sha256.Sum256([]byte(password))
	same := subtle.ConstantTimeCompare(want[:], got[:]) == 1
	return known && same
}

// failures remembers the failed logins of each address for a minute, so that
// guessing gets slow without locking anybody out.
type failures struct {
	delay time.Duration

	mu    sync.Mutex
	hosts map[string]*failed
}

type failed struct {
	count   int
	waiting int // answers being held back
	last    time.Time
}

const (
	failureMemory  = time.Minute
	failureHosts   = 1024
	failureWaiting = 64 // more logins of one address than this fail unlooked at
)

func newFailures(delay time.Duration) *failures {
	return &failures{delay: delay, hosts: map[string]*failed{}}
}

// busy reports that too many failures of this address are being held back.
func (f *failures) busy(host string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	return h != nil && h.waiting >= failureWaiting
}

// add notes a failure and tells how long its answer is to wait; done ends the wait.
func (f *failures) add(host string, now time.Time) (wait time.Duration, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	if h == nil || now.Sub(h.last) > failureMemory && h.waiting == 0 {
		if h == nil && len(f.hosts) >= failureHosts {
			f.forget(now)
		}
		h = &failed{}
		f.hosts[host] = h
	}
	wait = f.delay << min(h.count, 4)
	h.count++
	h.last = now
	h.waiting++
	return wait, func() {
		f.mu.Lock()
		h.waiting--
		f.mu.Unlock()
	}
}

// forget drops what is old, and if nothing is, whatever comes first.
func (f *failures) forget(now time.Time) {
	for host, h := range f.hosts {
		if h.waiting == 0 && now.Sub(h.last) > failureMemory {
			delete(f.hosts, host)
		}
	}
	for host, h := range f.hosts {
		if len(f.hosts) < failureHosts {
			return
		}
		if h.waiting == 0 {
			delete(f.hosts, host)
		}
	}
}

// hostOf is the address without its port.
func hostOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}
