//go:build unix

package main

import "unsafe"

// hidePasswords overwrites the passwords of the command line in the process's
// own memory, where ps reads them. On Unix the strings of os.Args are that
// memory. An argument is overwritten with its hidden form where shown differs.
func hidePasswords(argv, shown []string) {
	for i, a := range argv {
		if i >= len(shown) || a == shown[i] || a == "" {
			continue
		}
		b := unsafe.Slice(unsafe.StringData(a), len(a))
		n := copy(b, shown[i])
		for ; n < len(b); n++ {
			b[n] = '*'
		}
	}
}
