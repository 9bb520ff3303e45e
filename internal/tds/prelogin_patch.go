package tds

import "encoding/binary"

// SetPreloginEncryption changes what a PRELOGIN payload says of encryption, in
// place; false if it says nothing.
func SetPreloginEncryption(b []byte, e Encryption) bool {
	found := false
	for i := 0; i+5 <= len(b) && b[i] != preloginEnd; i += 5 {
		if PreloginOption(b[i]) != PreloginEncryption {
			continue
		}
		off, n := int(binary.BigEndian.Uint16(b[i+1:])), int(binary.BigEndian.Uint16(b[i+3:]))
		if n != 1 || off >= len(b) {
			return false
		}
		b[off] = byte(e)
		found = true
	}
	return found
}
