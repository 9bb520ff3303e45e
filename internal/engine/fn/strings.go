package fn

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// textResult is the Func.Type of a function from text to text.
func textResult(name string) func([]types.Type) (types.Type, error) {
	return func(args []types.Type) (types.Type, error) {
		if err := argType(args, 0, name); err != nil {
			return types.Null, err
		}
		return varText(args[0]), nil
	}
}

// mapText makes an Eval of a function from text to text.
func mapText(f func(string) string) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		s, err := text(args[0])
		if err != nil {
			return types.Value{}, err
		}
		return types.NewString(stringKind(args[0]), f(s)), nil
	})
}

var stringFunctions = []Func{
	{Name: "LEN", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: lenType, Eval: strict(evalLen)},
	{Name: "DATALENGTH", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: lenType, Eval: strict(evalDataLength)},
	{Name: "LEFT", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: textResult("left"), Eval: strict(evalLeft)},
	{Name: "RIGHT", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: textResult("right"), Eval: strict(evalRight)},
	{Name: "SUBSTRING", MinArgs: 3, MaxArgs: 3, Deterministic: true, Type: substringType, Eval: strict(evalSubstring)},
	{Name: "UPPER", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: textResult("upper"), Eval: mapText(strings.ToUpper)},
	{Name: "LOWER", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: textResult("lower"), Eval: mapText(strings.ToLower)},
	{Name: "LTRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: textResult("ltrim"), Eval: trimmer(true, false)},
	{Name: "RTRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: textResult("rtrim"), Eval: trimmer(false, true)},
	{Name: "TRIM", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: trimType, Eval: evalTrim},
	{Name: "REVERSE", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: textResult("reverse"), Eval: mapText(reverse)},
	{Name: "REPLACE", Cut: true, MinArgs: 3, MaxArgs: 3, Deterministic: true, Type: replaceType, Eval: strict(evalReplace)},
	{Name: "TRANSLATE", MinArgs: 3, MaxArgs: 3, Deterministic: true, Type: textResult("translate"), Eval: strict(evalTranslate)},
	{Name: "REPLICATE", Cut: true, MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: replicateType, Eval: strict(evalReplicate)},
	{Name: "SPACE", Cut: true, MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.VarChar(8000)), Eval: strict(evalSpace)},
	{Name: "STUFF", MinArgs: 4, MaxArgs: 4, Deterministic: true, Type: replaceType, Eval: evalStuff},
	{Name: "CONCAT", Cut: true, MinArgs: 2, MaxArgs: -1, Deterministic: true, Type: concatType, Eval: evalConcat},
	{Name: "CONCAT_WS", Cut: true, MinArgs: 3, MaxArgs: -1, Deterministic: true, Type: concatType, Eval: evalConcatWS},
	{Name: "ASCII", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: strict(evalASCII)},
	{Name: "CHAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Char(1)), Eval: strict(evalChar)},
	{Name: "NCHAR", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.NChar(1)), Eval: strict(evalNChar)},
	{Name: "UNICODE", MinArgs: 1, MaxArgs: 1, Deterministic: true, Type: fixedType(types.Int), Eval: strict(evalUnicode)},
	{Name: "STR", MinArgs: 1, MaxArgs: 3, Deterministic: true, Type: fixedType(types.VarChar(8000)), Eval: strict(evalStr)},
	{Name: "QUOTENAME", MinArgs: 1, MaxArgs: 2, Deterministic: true, Type: fixedType(types.NVarChar(258)), Eval: strict(evalQuoteName)},
	{Name: "PARSENAME", MinArgs: 2, MaxArgs: 2, Deterministic: true, Type: fixedType(types.Sysname), Eval: strict(evalParseName)},
}

func lenType(args []types.Type) (types.Type, error) {
	if args[0].Len == types.Max {
		return types.BigInt, nil
	}
	return types.Int, nil
}

func count(n int) types.Value { return types.NewInt(types.KindInt, int64(n)) }

// evalLen counts UTF-16 units without the blanks at the end.
func evalLen(args []types.Value) (types.Value, error) {
	if args[0].Kind().IsBinary() {
		return count(len(args[0].Bytes())), nil
	}
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return count(types.UTF16Len(s)), nil
}

func evalDataLength(args []types.Value) (types.Value, error) {
	v := args[0]
	switch k := v.Kind(); {
	case k.IsUnicode():
		return count(2 * types.UTF16Len(v.Str())), nil
	case k.IsString():
		return count(utf8.RuneCountInString(v.Str())), nil
	case k.IsBinary():
		return count(len(v.Bytes())), nil
	case k == types.KindDecimal:
		prec := len(strings.TrimLeft(v.Coefficient().String(), "-"))
		return count(int(types.Decimal(max(prec, int(v.Scale())), 0).MaxLength())), nil
	}
	return count(int(types.Type{Kind: v.Kind(), Scale: v.Scale()}.MaxLength())), nil
}

// prefix is the first n units of a text; byte offset when all is ASCII.
func unitOffset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i, r := range s {
		if n <= 0 {
			return i
		}
		n--
		if r > 0xFFFF {
			n--
		}
	}
	return len(s)
}

func evalLeft(args []types.Value) (types.Value, error) {
	n, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	if n < 0 {
		return types.Value{}, sqlerr.InvalidLength()
	}
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	if n < int64(len(s)) {
		s = s[:unitOffset(s, int(n))]
	}
	return types.NewString(stringKind(args[0]), s), nil
}

func evalRight(args []types.Value) (types.Value, error) {
	n, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	if n < 0 {
		return types.Value{}, sqlerr.InvalidRightLength("RIGHT")
	}
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	if d := int64(types.UTF16Len(s)) - n; d > 0 {
		s = s[unitOffset(s, int(d)):]
	}
	return types.NewString(stringKind(args[0]), s), nil
}

func substringType(args []types.Type) (types.Type, error) {
	if args[0].Kind.IsBinary() {
		return types.VarBinary(int(args[0].Len)), nil
	}
	if !args[0].Kind.IsString() && args[0].Kind != types.KindNull {
		return types.Null, sqlerr.ArgumentType(args[0].Name(), 1, "substring")
	}
	return varText(args[0]), nil
}

func evalSubstring(args []types.Value) (types.Value, error) {
	start, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	n, err := integer(args[2])
	if err != nil {
		return types.Value{}, err
	}
	if n < 0 {
		return types.Value{}, sqlerr.InvalidLength()
	}
	// A start before the first character shortens the result.
	end := start + n
	if end < start {
		end = 1 << 40
	}
	start = max(start, 1)
	if args[0].Kind().IsBinary() {
		b := args[0].Bytes()
		lo := min(start-1, int64(len(b)))
		hi := min(max(end-1, lo), int64(len(b)))
		return types.NewBytes(types.KindVarBinary, b[lo:hi]), nil
	}
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	k := stringKind(args[0])
	if end <= start || start > int64(len(s)) {
		return types.NewString(k, ""), nil
	}
	s = s[unitOffset(s, int(start-1)):]
	if end-start < int64(len(s)) {
		s = s[:unitOffset(s, int(end-start))]
	}
	return types.NewString(k, s), nil
}

func trimmer(left, right bool) func([]types.Value) (types.Value, error) {
	return strict(func(args []types.Value) (types.Value, error) {
		s, err := text(args[0])
		if err != nil {
			return types.Value{}, err
		}
		cut := " "
		if len(args) == 2 {
			if cut, err = text(args[1]); err != nil {
				return types.Value{}, err
			}
		}
		if left {
			s = strings.TrimLeft(s, cut)
		}
		if right {
			s = strings.TrimRight(s, cut)
		}
		return types.NewString(stringKind(args[0]), s), nil
	})
}

func trimType(args []types.Type) (types.Type, error) {
	return textResult("Trim")(args[len(args)-1:])
}

// evalTrim is TRIM(text) and TRIM(characters FROM text).
func evalTrim(args []types.Value) (types.Value, error) {
	if len(args) == 1 {
		return trimmer(true, true)(args)
	}
	swapped := [2]types.Value{args[1], args[0]}
	return trimmer(true, true)(swapped[:])
}

func reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// replaceType is national when one of the texts is.
func replaceType(args []types.Type) (types.Type, error) {
	t := varText(args[0])
	limit := 8000
	national := false
	for _, a := range args {
		national = national || a.Kind.IsUnicode()
	}
	if national {
		t.Kind, limit = types.KindNVarChar, 4000
	}
	if t.Len != types.Max {
		t.Len = int32(limit)
	}
	return t, nil
}

func replaceKind(args []types.Value) types.Kind {
	for _, a := range args {
		if a.Kind().IsUnicode() {
			return types.KindNVarChar
		}
	}
	return types.KindVarChar
}

func evalReplace(args []types.Value) (types.Value, error) {
	var p [3]string
	for i := range p {
		s, err := text(args[i])
		if err != nil {
			return types.Value{}, err
		}
		p[i] = s
	}
	s, old, repl := p[0], p[1], p[2]
	k := replaceKind(args)
	if old == "" || s == "" {
		return types.NewString(k, s), nil
	}
	var sb strings.Builder
	for {
		i, n := indexFold(s, old)
		if i < 0 {
			sb.WriteString(s)
			return types.NewString(k, sb.String()), nil
		}
		sb.WriteString(s[:i])
		sb.WriteString(repl)
		s = s[i+n:]
		if err := types.Fits(sb.Len() + len(s)); err != nil {
			return types.Value{}, err
		}
	}
}

func evalTranslate(args []types.Value) (types.Value, error) {
	var p [3]string
	for i := range p {
		s, err := text(args[i])
		if err != nil {
			return types.Value{}, err
		}
		p[i] = s
	}
	from, to := []rune(p[1]), []rune(p[2])
	if len(from) != len(to) {
		return types.Value{}, sqlerr.New(9828, 16, 1, "The second and the third argument of TRANSLATE must have the same number of characters.")
	}
	out := strings.Map(func(r rune) rune {
		for i, f := range from {
			if types.EqualRune(r, f, types.CollDefault) {
				return to[i]
			}
		}
		return r
	}, p[0])
	return types.NewString(stringKind(args[0]), out), nil
}

func replicateType(args []types.Type) (types.Type, error) {
	t, err := textResult("replicate")(args)
	if err == nil && t.Len != types.Max {
		t.Len = 8000
		if t.Kind == types.KindNVarChar {
			t.Len = 4000
		}
	}
	return t, err
}

func evalReplicate(args []types.Value) (types.Value, error) {
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	n, err := integer(args[1])
	if err != nil || n < 0 {
		return types.Value{}, err
	}
	// The engine's values do not tell varchar(8000) from varchar(max): Func.Cut.
	if s != "" && n > types.MaxValueBytes/int64(len(s)) {
		return types.Value{}, sqlerr.ValueTooLong(types.MaxValueBytes)
	}
	return types.NewString(stringKind(args[0]), strings.Repeat(s, int(n))), nil
}

func evalSpace(args []types.Value) (types.Value, error) {
	n, err := integer(args[0])
	if err != nil || n < 0 {
		return types.Value{}, err
	}
	return types.NewString(types.KindVarChar, strings.Repeat(" ", int(min(n, 8000)))), nil
}

// evalStuff takes a NULL replacement for an empty one.
func evalStuff(args []types.Value) (types.Value, error) {
	if anyNull(args[:3]) {
		return types.Value{}, nil
	}
	s, err := text(args[0])
	if err != nil {
		return types.Value{}, err
	}
	start, err := integer(args[1])
	if err != nil {
		return types.Value{}, err
	}
	n, err := integer(args[2])
	if err != nil {
		return types.Value{}, err
	}
	var repl string
	if !args[3].IsNull() {
		if repl, err = text(args[3]); err != nil {
			return types.Value{}, err
		}
	}
	units := int64(types.UTF16Len(s))
	if start < 1 || start > units || n < 0 {
		return types.Value{}, nil
	}
	i := unitOffset(s, int(start-1))
	j := i + unitOffset(s[i:], int(min(n, units)))
	if err := types.Fits(len(s) + len(repl)); err != nil {
		return types.Value{}, err
	}
	return types.NewString(replaceKind(args), s[:i]+repl+s[j:]), nil
}

func evalASCII(args []types.Value) (types.Value, error) {
	s, err := text(args[0])
	if err != nil || s == "" {
		return types.Value{}, err
	}
	_, n := utf8.DecodeRuneInString(s)
	return count(int(types.Encode1252(s[:n])[0])), nil
}

func evalChar(args []types.Value) (types.Value, error) {
	n, err := integer(args[0])
	if err != nil || n < 0 || n > 255 {
		return types.Value{}, err
	}
	return types.NewString(types.KindChar, types.Decode1252([]byte{byte(n)})), nil
}

func evalNChar(args []types.Value) (types.Value, error) {
	n, err := integer(args[0])
	if err != nil || n < 0 || n > unicode.MaxRune {
		return types.Value{}, err
	}
	return types.NewString(types.KindNChar, string(rune(n))), nil
}

func evalUnicode(args []types.Value) (types.Value, error) {
	s, err := text(args[0])
	if err != nil || s == "" {
		return types.Value{}, err
	}
	r, _ := utf8.DecodeRuneInString(s)
	if r > 0xFFFF {
		r = 0xD800 + (r-0x10000)>>10
	}
	return count(int(r)), nil
}

// evalStr is STR(number, length, decimals): right-justified, stars when the
// whole part does not fit.
func evalStr(args []types.Value) (types.Value, error) {
	f, err := float(args[0])
	if err != nil {
		return types.Value{}, err
	}
	length, places := int64(10), int64(0)
	if len(args) > 1 {
		if length, err = integer(args[1]); err != nil {
			return types.Value{}, err
		}
	}
	if len(args) > 2 {
		if places, err = integer(args[2]); err != nil {
			return types.Value{}, err
		}
	}
	if length < 0 || length > 8000 || places < 0 {
		return types.Value{}, nil
	}
	places = min(places, 16)
	s := strconv.FormatFloat(f, 'f', int(places), 64)
	if whole := strings.IndexByte(s, '.'); whole >= 0 && int64(len(s)) > length && int64(whole) <= length {
		room := max(length-int64(whole)-1, 0)
		s = strconv.FormatFloat(f, 'f', int(room), 64)
	}
	if int64(len(s)) > length {
		s = strings.Repeat("*", int(length))
	}
	return types.NewString(types.KindVarChar, strings.Repeat(" ", int(length)-len(s))+s), nil
}
