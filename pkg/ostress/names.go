package ostress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameMost is how many bytes a file's name may have on the systems we know.
const nameMost = 255

// portable makes of base the beginning of a file's name that every system takes,
// with room for an end of that many bytes: what Windows or the manifest cannot
// have in a name becomes _, and a device's name gets one in front.
func portable(base string, end int) string {
	base = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, base)
	if stem, _, _ := strings.Cut(base, "."); isDevice(strings.TrimRight(stem, " ")) {
		base = "_" + base
	}
	if n := nameMost - end; len(base) > n {
		for n > 0 && !utf8.RuneStart(base[n]) {
			n--
		}
		base = base[:n]
	}
	return base
}

// isDevice says that Windows keeps a name for a device, whatever its ending.
func isDevice(stem string) bool {
	switch stem = strings.ToUpper(stem); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "0123456789¹²³")
}
