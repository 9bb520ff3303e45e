package scenario

import (
	"errors"
	"strings"

	"gostress/pkg/driver"
)

// request makes the request of a batch. An ODBC call escape that is the whole batch is what an
// ODBC driver makes of it: {call p} or {call p()} is a call of p by name, which alone reaches
// procedures such as sp_reset_connection; with literals, {call p(1)} is EXEC p 1.
func request(text string, source driver.Source) (*driver.Request, error) {
	r := &driver.Request{Kind: driver.Text, Text: text, Source: source}
	proc, args, ok, err := callEscape(text)
	switch {
	case err != nil:
		return nil, err
	case !ok:
	case args == "":
		r.Kind, r.Text, r.Proc = driver.RPC, "", proc
	default:
		r.Text = "EXEC " + proc + " " + args
	}
	return r, nil
}

// callEscape reads {call name}, {call name(args)} and {?=call name}. ok says that text is one; a
// text that only begins like one is an error when it is broken, not a batch.
func callEscape(text string) (proc, args string, ok bool, err error) {
	s := strings.TrimSpace(text)
	if !strings.HasPrefix(s, "{") {
		return "", "", false, nil
	}
	s = strings.TrimSpace(s[1:])
	result := false
	if rest, found := strings.CutPrefix(s, "?"); found {
		if rest, found = strings.CutPrefix(strings.TrimSpace(rest), "="); found {
			s, result = strings.TrimSpace(rest), true
		}
	}
	if len(s) < 5 || !strings.EqualFold(s[:4], "call") || !strings.ContainsRune(" \t\r\n[\"", rune(s[4])) {
		if result {
			return "", "", false, errors.New("an ODBC escape {?= ...} that is not a call")
		}
		return "", "", false, nil // {d '...'}, {fn ...} and their like belong to the server
	}
	s = strings.TrimSpace(s[4:])
	n := nameLen(s)
	proc, s = strings.TrimSpace(s[:n]), strings.TrimSpace(s[n:])
	if proc == "" {
		return "", "", false, errors.New("the ODBC escape {call ...} names no procedure")
	}
	if strings.HasPrefix(s, "(") {
		end, marker := closing(s)
		if end < 0 {
			return "", "", false, errors.New("the ODBC escape {call " + proc + "(...)} has no closing parenthesis")
		}
		if marker {
			return "", "", false, errors.New("the ODBC escape {call " + proc + "(...)} has a parameter marker ?, and no parameters are given")
		}
		args, s = strings.TrimSpace(s[1:end]), strings.TrimSpace(s[end+1:])
	}
	if s == "}" {
		return proc, args, true, nil
	}
	if strings.HasPrefix(s, "}") {
		return "", "", false, errors.New("there is text behind the ODBC escape {call " + proc + "}")
	}
	return "", "", false, errors.New("the ODBC escape {call " + proc + " has no closing brace")
}

// nameLen is the length of the procedure's name, parts and quotes included.
func nameLen(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '"':
			end := byte(']')
			if s[i] == '"' {
				end = '"'
			}
			for i++; i < len(s); i++ {
				if s[i] != end {
					continue
				}
				if i+1 < len(s) && s[i+1] == end {
					i++
					continue
				}
				break
			}
		case '(', '}', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(s)
}

// closing finds the parenthesis that closes the one s begins with, outside strings, and whether a
// parameter marker stands before it.
func closing(s string) (end int, marker bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return -1, marker
			}
			i += j + 1 // a doubled quote begins the next string at once
		case '?':
			marker = true
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i, marker
			}
		}
	}
	return -1, marker
}
