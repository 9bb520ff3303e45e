package fn

import (
	"strings"

	"gostress/internal/engine/types"
)

func concatType(args []types.Type) (types.Type, error) {
	k, limit, total := types.KindVarChar, 8000, 0
	long := false
	for _, a := range args {
		if a.Kind.IsUnicode() {
			k, limit = types.KindNVarChar, 4000
		}
		switch {
		case a.Len == types.Max:
			long = true
		case a.Len > 0:
			total += int(a.Len)
		case a.Kind != types.KindNull:
			total += 50 // more than any number or date takes
		}
	}
	n := max(1, min(total, limit))
	if long {
		n = types.Max
	}
	return types.Type{Kind: k, Len: int32(n)}, nil
}

// evalConcat takes NULL for empty.
func evalConcat(args []types.Value) (types.Value, error) {
	var sb strings.Builder
	for _, a := range args {
		if a.IsNull() {
			continue
		}
		s, err := text(a)
		if err != nil {
			return types.Value{}, err
		}
		if err := types.Fits(sb.Len() + len(s)); err != nil {
			return types.Value{}, err
		}
		sb.WriteString(s)
	}
	return types.NewString(replaceKind(args), sb.String()), nil
}

func evalConcatWS(args []types.Value) (types.Value, error) {
	var sep string
	if !args[0].IsNull() {
		var err error
		if sep, err = text(args[0]); err != nil {
			return types.Value{}, err
		}
	}
	var sb strings.Builder
	first := true
	for _, a := range args[1:] {
		if a.IsNull() {
			continue
		}
		s, err := text(a)
		if err != nil {
			return types.Value{}, err
		}
		if err := types.Fits(sb.Len() + len(sep) + len(s)); err != nil {
			return types.Value{}, err
		}
		if !first {
			sb.WriteString(sep)
		}
		sb.WriteString(s)
		first = false
	}
	return types.NewString(replaceKind(args), sb.String()), nil
}
