package fn

import (
	"unicode/utf8"

	"gostress/internal/engine/types"
)

var searchFunctions = []Func{
	{Name: "CHARINDEX", MinArgs: 2, MaxArgs: 3, Deterministic: true, Type: indexType, Eval: strict(evalCharIndex)},
	{Name: "PATINDEX", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: indexType, Eval: strict(evalPatIndex)},
}

func indexType(args []types.Type) (types.Type, error) {
	if args[1].Len == types.Max {
		return types.BigInt, nil
	}
	return types.Int, nil
}

// indexFold finds sub in s as the default collation compares: its offset and
// the length of what was found, or -1.
func indexFold(s, sub string) (at, length int) {
	for i := range s {
		if n, ok := prefixFold(s[i:], sub); ok {
			return i, n
		}
	}
	return -1, 0
}

// prefixFold reports whether s begins with sub and how many bytes that takes.
func prefixFold(s, sub string) (int, bool) {
	i := 0
	for _, want := range sub {
		if i >= len(s) {
			return 0, false
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !types.EqualRune(r, want, types.CollDefault) {
			return 0, false
		}
		i += n
	}
	return i, true
}

// evalCharIndex counts from 1; 0 means not found.
func evalCharIndex(args []types.Value) (types.Value, error) {
	sub, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	s, err := text(args[1])
	if err != nil {
		return types.Value{}, err
	}
	start := int64(1)
	if len(args) == 3 {
		if start, err = integer(args[2]); err != nil {
			return types.Value{}, err
		}
	}
	start = max(start, 1)
	if sub == "" || start > int64(len(s)) {
		return count(0), nil
	}
	from := unitOffset(s, int(start-1))
	at, _ := indexFold(s[from:], sub)
	if at < 0 {
		return count(0), nil
	}
	return count(types.UTF16Len(s[:from+at]) + 1), nil
}

func evalPatIndex(args []types.Value) (types.Value, error) {
	p, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	s, err := text(args[1])
	if err != nil {
		return types.Value{}, err
	}
	m, err := CompileLike(p, "", types.CollDefault)
	if err != nil {
		return types.Value{}, err
	}
	at := m.find(s)
	if at < 0 {
		return count(0), nil
	}
	return count(types.UTF16Len(s[:at]) + 1), nil
}
