// Package ostress is the face gostress shows to people and scripts that know
// ostress: its command line, its log lines, its result files.
package ostress

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ArgError is a command line that cannot be carried out.
type ArgError struct{ Text string }

func (e *ArgError) Error() string { return e.Text }

// A letter switch and the long name it is rewritten to.
type letter struct {
	long  string
	value bool // takes a value, glued or as the next argument
}

func letters() map[byte]letter {
	return map[byte]letter{
		'S': {long: "server", value: true},
		'E': {long: "integrated"},
		'U': {long: "user", value: true},
		'P': {long: "password", value: true},
		'd': {long: "database", value: true},
		'Q': {long: "query", value: true},
		'i': {long: "input", value: true},
		'n': {long: "connections", value: true},
		'r': {long: "iterations", value: true},
		'o': {long: "output", value: true},
		'l': {long: "login-timeout", value: true},
		't': {long: "query-timeout", value: true},
		'p': {long: "packet-size", value: true},
		'q': {long: "quiet"},
		'v': {long: "verbose"},
		'm': {long: "run-mode", value: true},
		'T': {long: "trace-flag", value: true},
		'N': {long: "no-exit-line"},
		'M': {long: "max-threads", value: true},
		'b': {long: "stop-on-error"},
		'D': {long: "data-source", value: true},
		'L': {long: "lcid", value: true},
		'a': {long: "replay-password", value: true},
		'c': {long: "control-file", value: true},
		'f': {long: "result-format", value: true},
	}
}

// Rewrite turns a command line in ostress's spellings into long names alone,
// each with its value behind "=": -n100, -n 100, –n100 (the dash of printed
// pages), -quiet, -S127 .0.0.1 (of PowerShell). Long names pass, with their values: takesValue tells which of
// them take one. A value is taken from the next argument only if that does not
// begin with a dash. The error is an *ArgError.
func Rewrite(args []string, takesValue func(long string) bool) ([]string, error) {
	known := letters()
	var out []string
	for i := 0; i < len(args); i++ {
		a := plainDash(args[i])
		switch {
		case strings.HasPrefix(a, "--"):
			out = append(out, a)
			name, _, glued := strings.Cut(a[2:], "=")
			if name == "" {
				return nil, &ArgError{"-- is not a switch"}
			}
			if name == "help" {
				out[len(out)-1] = "--help"
			}
			if takesValue(name) && !glued {
				if i+1 >= len(args) {
					return nil, &ArgError{a + " needs a value"}
				}
				i++
				out[len(out)-1] = a + "=" + args[i]
			}
			continue
		case a == "/?" || a == "-?" || a == "-h":
			out = append(out, "--help")
			continue
		case (len(a) < 2 || a[0] != '-') && i > 0 && strings.HasPrefix(plainDash(args[i-1]), "--"):
			// Behind a mistyped --password stands a password.
			name, _, _ := strings.Cut(plainDash(args[i-1]), "=")
			return nil, &ArgError{name + " is unknown or takes no value"}
		case (len(a) < 2 || a[0] != '-') && secretBefore(args[:i]) != "":
			return nil, &ArgError{"what stands behind " + secretBefore(args[:i]) + " is not a switch: a password with blanks needs quotes around it, and stands behind -P"}
		case len(a) > 2 && a[0] == '/' && strings.ContainsRune("Pa", rune(a[1])):
			return nil, &ArgError{a[:2] + "... is not a switch: write -" + a[1:2]}
		case (len(a) < 2 || a[0] != '-') && i > 0 && strings.HasPrefix(plainDash(args[i-1]), "-Q"):
			return nil, &ArgError{fmt.Sprintf("%q is not a switch: it stands behind -Q, whose quotes the shell took away; put the query in a file (-i), or write its inner quotes so that the shell leaves them", Mask(a))}
		case len(a) < 2 || a[0] != '-':
			return nil, &ArgError{fmt.Sprintf("%q is not a switch: a value stands right behind its switch, as in -n100", Mask(a))}
		}
		l, ok := known[a[1]]
		if !ok && i > 0 && takesSecret(args[i-1]) {
			return nil, &ArgError{"unknown switch " + a[:2] + ": a password that begins with a dash stands right behind " + plainDash(args[i-1])[:2]}
		}
		if !ok {
			return nil, &ArgError{fmt.Sprintf("unknown switch %s", firstRunes(a, 12))}
		}
		if !l.value {
			// Letters behind a switch without a value mean nothing: -quiet is -q.
			out = append(out, "--"+l.long)
			continue
		}
		value := a[2:]
		if next := i + 1; value != "" && next < len(args) && splitByPowerShell(args[next]) {
			i = next
			value += args[next]
		}
		if value == "" {
			if next := i + 1; next < len(args) && !startsWithDash(args[next]) {
				i = next
				value = args[next]
			}
			if value == "" && a[1] != 'P' {
				// An empty password is a password; nothing else may be empty.
				return nil, &ArgError{"-" + a[1:2] + " needs a value"}
			}
		}
		out = append(out, "--"+l.long+"="+value)
	}
	return out, nil
}

// Redact is the command line as a log may show it: passwords are hidden, in
// every spelling, and in the text of a query too.
func Redact(args []string) []string {
	const hidden = "********"
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		a := plainDash(out[i])
		switch {
		case a == "-P" || a == "-a" || a == "--password" || a == "--replay-password":
			if i+1 < len(out) && (strings.HasPrefix(a, "--") || !startsWithDash(out[i+1])) {
				i++
				out[i] = hidden
			}
		case strings.HasPrefix(a, "--password="), strings.HasPrefix(a, "--replay-password="):
			name, _, _ := strings.Cut(a, "=")
			out[i] = name + "=" + hidden
		case a == "--sqlcmd-vars" && i+1 < len(out) && !startsWithDash(out[i+1]):
			i++
			out[i] = maskVariable(out[i])
		case strings.HasPrefix(a, "--sqlcmd-vars="):
			name, value, _ := strings.Cut(a, "=")
			out[i] = name + "=" + maskVariable(value)
		case strings.HasPrefix(a, "-P"), strings.HasPrefix(a, "-a"):
			out[i] = a[:2] + hidden
			if i+1 < len(out) && splitByPowerShell(out[i+1]) {
				i++
				out[i] = hidden
			}
		default:
			out[i] = Mask(out[i])
		}
	}
	return out
}

var secretName = regexp.MustCompile(`(?i)pass|pwd|secret|token`)

// maskVariable hides the value of NAME=VALUE where the name says that it is a password.
func maskVariable(v string) string {
	if name, _, ok := strings.Cut(v, "="); ok && secretName.MatchString(name) {
		return name + "=********"
	}
	return Mask(v)
}

var secretInSQL = regexp.MustCompile(`(?i)(\b(?:password|pwd|secret)\s*=\s*N?')(?:[^']|'')*'`)

// Mask hides the passwords that T-SQL text itself holds (PASSWORD = '...').
func Mask(text string) string {
	return secretInSQL.ReplaceAllString(text, "${1}********'")
}

// plainDash reads the dashes of printed pages, U+2013 and U+2014, as a hyphen
// where they begin an argument.
func plainDash(a string) string {
	for _, d := range []string{"\u2013", "\u2014"} {
		if rest, ok := strings.CutPrefix(a, d); ok {
			return "-" + rest
		}
	}
	return a
}

// takesSecret says whether a is a letter switch that has a password behind it.
func takesSecret(a string) bool {
	a = plainDash(a)
	return strings.HasPrefix(a, "-P") || strings.HasPrefix(a, "-a")
}

// secretBefore is the switch, shortened, behind whose value a stray word follows args, if that can be
// the rest of a password: -P and -a, and -pwd or -password, which are read as -p.
func secretBefore(args []string) string {
	for _, a := range slices.Backward(args) {
		a = plainDash(a)
		switch {
		case !startsWithDash(a):
			continue
		case takesSecret(a):
			return a[:2]
		case len(a) > 2 && a[1] == 'p' && !isDigit(a[2]):
			return "-p"
		}
		return ""
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// splitByPowerShell says whether a is the rest of the value before it: PowerShell cuts an
// argument that begins with a dash, such as -S127.0.0.1 and -istart.sql, in front of its first
// full stop.
func splitByPowerShell(a string) bool {
	return len(a) > 1 && a[0] == '.' && a[1] != '.' && a[1] != '/' && a[1] != '\\'
}

func startsWithDash(a string) bool { return strings.HasPrefix(plainDash(a), "-") }

func firstRunes(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
