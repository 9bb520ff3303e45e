package result

import "strings"

const hidden = "********"

// HidePasswords returns a copy of a command line in which the value of -P and of every long
// switch whose name ends in "password" is replaced by asterisks. -P may be glued to its value or
// stand apart from it, with any of the dashes that ostress's users paste.
func HidePasswords(args []string) []string {
	out := make([]string, len(args))
	next := false
	for i, arg := range args {
		out[i] = arg
		body, dashes := cutDashes(arg)
		switch {
		case next && dashes == 0:
			out[i], next = hidden, false
			continue
		case dashes == 1 && strings.HasPrefix(body, "P"):
			if body == "P" {
				next = true
				continue
			}
			out[i] = arg[:len(arg)-len(body)+1] + hidden
		case dashes == 2:
			name, _, glued := strings.Cut(body, "=")
			if strings.HasSuffix(strings.ToLower(name), "password") {
				if !glued {
					next = true
					continue
				}
				out[i] = arg[:len(arg)-len(body)] + name + "=" + hidden
			}
		}
		next = false
	}
	return out
}

// cutDashes takes the leading dash off a switch (U+2013 and U+2014 count as one) and says how
// many there were, at most two.
func cutDashes(arg string) (body string, dashes int) {
	for _, dash := range []string{"--", "-", "\u2013", "\u2014"} {
		if rest, ok := strings.CutPrefix(arg, dash); ok && rest != "" {
			if dash == "--" {
				return rest, 2
			}
			return rest, 1
		}
	}
	return arg, 0
}
