package tsql

import "gostress/internal/engine/sqlerr"

// blocks checks that parentheses, BEGIN, TRY, CATCH and CASE are closed, in order,
// and how deep they nest.
func blocks(text string, t []token) error {
	type open struct {
		what string // "(", CASE, BEGIN, TRY, CATCH
		at   int
	}
	var stack []open
	top := func() string {
		if len(stack) == 0 {
			return ""
		}
		return stack[len(stack)-1].what
	}
	prefix := 0 // length of a run of prefix operators
	for i := range t {
		w := t[i].word
		if t[i].kind != tokWord && t[i].kind != tokPunct {
			prefix = 0
			continue
		}
		switch w {
		case "-", "+", "~", "NOT":
			prefix++
		default:
			prefix = 0
		}
		switch w {
		case "(":
			stack = append(stack, open{"(", i})
		case ")":
			if top() != "(" {
				return near(text, t[i])
			}
			stack = stack[:len(stack)-1]
		case "CASE":
			stack = append(stack, open{"CASE", i})
		case "BEGIN":
			if what := beginKind(t, i); what != "" {
				if top() == "(" {
					return near(text, t[i])
				}
				if what == "BEGIN" && t[i+1].word == "END" {
					return near(text, t[i+1])
				}
				if what == "CATCH" && !(i >= 2 && t[i-1].word == "TRY" && t[i-2].word == "END" || i >= 3 && t[i-1].word == ";" && t[i-2].word == "TRY" && t[i-3].word == "END") {
					return near(text, t[i+1])
				}
				stack = append(stack, open{what, i})
			}
		case "END":
			if t[i+1].word == "CONVERSATION" {
				break
			}
			switch top() {
			case "CASE", "BEGIN":
			case "TRY", "CATCH":
				if t[i+1].word != top() {
					return nearAt(text, t, i+1)
				}
				if top() == "TRY" {
					j := i + 2
					if t[j].word == ";" {
						j++
					}
					if t[j].word != "BEGIN" || t[j+1].word != "CATCH" {
						return nearAt(text, t, j)
					}
				}
			default:
				return near(text, t[i])
			}
			stack = stack[:len(stack)-1]
		}
		if len(stack)+prefix > maxNesting {
			return at(sqlerr.NestedTooDeep(), t[i].line)
		}
	}
	if len(stack) > 0 {
		return nearAt(text, t, len(t)-1)
	}
	return nil
}

// beginKind says what BEGIN at i opens; "" for BEGIN TRANSACTION and the like.
func beginKind(t []token, i int) string {
	switch w := t[i+1].word; w {
	case "TRY", "CATCH":
		return w
	case "TRAN", "TRANSACTION", "DISTRIBUTED", "DIALOG", "CONVERSATION":
		return ""
	}
	return "BEGIN"
}
