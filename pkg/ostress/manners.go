package ostress

import "strings"

// Manners are whose lines a run's console has. The name that the program is
// called by decides them.
type Manners uint8

const (
	// AsGostress shows ostress's lines, notes, and the summary.
	AsGostress Manners = iota
	// AsOstress shows ostress's lines and no others: scripts that read them know no
	// more. The notes and the summary are in ostress.log.
	AsOstress
)

// MannersOf are those of a program that is run as path: a link or a copy named
// ostress or ostress.exe, in any case, has ostress's.
func MannersOf(path string) Manners {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	if name := strings.ToLower(path); name == "ostress" || name == "ostress.exe" {
		return AsOstress
	}
	return AsGostress
}
