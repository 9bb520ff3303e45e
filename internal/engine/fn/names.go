package fn

import (
	"strings"

	"gostress/internal/engine/types"
)

func evalQuoteName(args []types.Value) (types.Value, error) {
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	quote := "["
	if len(args) == 2 {
		if quote, err = text(args[1]); err != nil {
			return types.Value{}, err
		}
	}
	if types.UTF16Len(s) > 128 || quote == "" {
		return types.Value{}, nil
	}
	var open, shut string
	switch quote[:1] {
	case "[", "]":
		open, shut = "[", "]"
	case "'", `"`, "`":
		open, shut = quote[:1], quote[:1]
	case "(", ")":
		open, shut = "(", ")"
	case "<", ">":
		open, shut = "<", ">"
	case "{", "}":
		open, shut = "{", "}"
	default:
		return types.Value{}, nil
	}
	return types.NewString(types.KindNVarChar, open+strings.ReplaceAll(s, shut, shut+shut)+shut), nil
}

// evalParseName takes a name apart; part 1 is the object, 4 the server.
func evalParseName(args []types.Value) (types.Value, error) {
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	n, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	var parts []string
	for {
		part, rest, ok := cutName(s)
		if !ok {
			return types.Value{}, nil
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		s = rest[1:]
	}
	if n < 1 || int(n) > len(parts) || len(parts) > 4 || parts[len(parts)-int(n)] == "" {
		return types.Value{}, nil
	}
	return types.NewString(types.KindNVarChar, parts[len(parts)-int(n)]), nil
}

// cutName cuts the first part off a name; rest begins with its point.
func cutName(s string) (part, rest string, ok bool) {
	if s == "" || s[0] != '[' && s[0] != '"' {
		i := strings.IndexByte(s, '.')
		if i < 0 {
			i = len(s)
		}
		return s[:i], s[i:], true
	}
	shut := byte(']')
	if s[0] == '"' {
		shut = '"'
	}
	var sb strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != shut {
			sb.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == shut {
			sb.WriteByte(shut)
			i++
			continue
		}
		rest = s[i+1:]
		return sb.String(), rest, rest == "" || rest[0] == '.'
	}
	return "", "", false
}
