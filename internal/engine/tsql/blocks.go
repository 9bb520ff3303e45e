package tsql

import "gostress/internal/engine/sqlerr"

// blocks checks that parentheses, BEGIN, TRY, CATCH and CASE are closed, in order,
// and how deep they nest.
func blocks(text string, t []token) error {
	type open struct {
		what  string // "(", CASE, BEGIN, TRY, CATCH
		chain int    // of the statements around it
	}
	var stack []open
	top := func() string {
		if len(stack) == 0 {
			return ""
		}
		return stack[len(stack)-1].what
	}
	prefix := 0 // length of a run of prefix operators
	// chain counts IF, WHILE and ELSE that hang on each other without a block;
	// around adds up those of the open blocks. body says that the next statement
	// is the one an IF or WHILE governs.
	chain, around, body := 0, 0, false
	push := func(what string) {
		stack = append(stack, open{what, chain})
		around += chain
		chain, body = 0, false
	}
	pop := func() {
		chain = stack[len(stack)-1].chain
		around -= chain
		stack = stack[:len(stack)-1]
	}
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
			was := body
			push("(")
			body = was
		case ")":
			if top() != "(" {
				return near(text, t[i])
			}
			pop()
		case "IF", "WHILE":
			if body || i > 0 && back(t, i, 1).word == "ELSE" {
				chain++
			} else {
				chain = 1
			}
			body = true
		case "CASE":
			was := body
			push("CASE")
			body = was
		case "BEGIN":
			if what := beginKind(t, i); what != "" {
				if top() == "(" {
					return near(text, t[i])
				}
				if what == "BEGIN" && t[i+1].word == "END" {
					return near(text, t[i+1])
				}
				if what == "CATCH" && !(i >= 2 && back(t, i, 1).word == "TRY" && back(t, i, 2).word == "END" || i >= 3 && back(t, i, 1).word == ";" && back(t, i, 2).word == "TRY" && back(t, i, 3).word == "END") {
					return near(text, t[i+1])
				}
				push(what)
			}
		case "END":
			if t[i+1].word == "CONVERSATION" || i > 0 && periods[back(t, i, 1).word] {
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
			pop()
		default:
			if t[i].kind == tokWord && starters[w] && top() != "(" && top() != "CASE" {
				body = false
			}
		}
		if len(stack)+prefix+chain+around > maxNesting {
			return at(sqlerr.NestedTooDeep(), t[i].line)
		}
	}
	if len(stack) > 0 {
		return nearAt(text, t, len(t)-1)
	}
	return nil
}

// periods are the words before END in GENERATED ALWAYS AS ROW END.
var periods = words("ROW SUSER_SID SUSER_SNAME TRANSACTION_ID SEQUENCE_NUMBER")

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
