package param

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"gostress/pkg/driver"
)

// Var is a parameter whose values are generated.
type Var struct {
	Column
	draw func(*rand.Rand) any
}

// ParseVar reads NAME[:TYPE]=GENERATOR:
//
//	uniform(1,8000)    whole numbers, both ends included; with a decimal point, floats
//	zipf(1,8000[,1.1]) whole numbers of which the first is the most frequent; the skew is above 1
//	seq(1[,1])         counting up over all connections, with a step
//	uuid               a random uniqueidentifier
//	now                the time of the draw, UTC
//	choice(a,b,c)      one of those
//	text(40) text(1,40) letters, as many or so many
//
// Without a type it is bigint, float, uniqueidentifier, datetime2(7), or an nvarchar that holds
// everything drawn.
func ParseVar(s string) (Var, error) {
	left, right, ok := strings.Cut(s, "=")
	if !ok {
		return Var{}, fmt.Errorf("variable %q: write NAME=GENERATOR, as in id=uniform(1,8000)", s)
	}
	c, err := ParseColumn(left, driver.SQLType{})
	if err != nil {
		return Var{}, fmt.Errorf("variable %q: %w", s, err)
	}
	draw, own, err := generator(strings.TrimSpace(right))
	if err != nil {
		return Var{}, fmt.Errorf("variable %q: %w", s, err)
	}
	v := Var{Column: c, draw: draw}
	if v.Type.Name == "" {
		v.Type = own
		return v, nil
	}
	if v.Type == own {
		return v, nil
	}
	// What is drawn has to fit: tried now on a few draws, and converted at each.
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if _, err := Convert(plain(draw(r)), v.Type); err != nil {
			return Var{}, fmt.Errorf("variable %q: %w", s, err)
		}
	}
	v.draw = func(r *rand.Rand) any {
		out, err := Convert(plain(draw(r)), v.Type)
		if err != nil {
			return nil // a value beyond its type, which is NULL in a run that has begun
		}
		return out
	}
	return v, nil
}

// generator is what stands behind the equals sign, and the type of its values.
func generator(s string) (func(*rand.Rand) any, driver.SQLType, error) {
	name, rest, called := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	var args []string
	if called {
		inside, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
		if !closed {
			return nil, text, fmt.Errorf("the closing parenthesis of %s is missing", name)
		}
		if strings.TrimSpace(inside) != "" {
			args = strings.Split(inside, ",")
		}
		for i := range args {
			args[i] = strings.TrimSpace(args[i])
		}
	}
	wants := func(least, most int, example string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("write %s", example)
		}
		return nil
	}
	switch name {
	case "uniform":
		if err := wants(2, 2, "uniform(FROM,TO)"); err != nil {
			return nil, text, err
		}
		return uniform(args)
	case "zipf":
		if err := wants(2, 3, "zipf(FROM,TO) or zipf(FROM,TO,SKEW)"); err != nil {
			return nil, text, err
		}
		return zipf(args)
	case "seq":
		if err := wants(0, 2, "seq(FIRST) or seq(FIRST,STEP)"); err != nil {
			return nil, text, err
		}
		n, err := whole(append(append([]string{}, args...), []string{"1", "1"}[len(args):]...))
		if err != nil {
			return nil, text, err
		}
		var count atomic.Int64
		return func(*rand.Rand) any { return n[0] + n[1]*(count.Add(1)-1) }, driver.SQLType{Name: "bigint"}, nil
	case "uuid":
		if err := wants(0, 0, "uuid"); err != nil {
			return nil, text, err
		}
		return func(r *rand.Rand) any {
			var b [16]byte
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // RFC 9562: version 4, variant
			return uuid.UUID(b).String()
		}, driver.SQLType{Name: "uniqueidentifier"}, nil
	case "now":
		if err := wants(0, 0, "now"); err != nil {
			return nil, text, err
		}
		return func(*rand.Rand) any { return time.Now().UTC() }, driver.SQLType{Name: "datetime2", Scale: 7}, nil
	case "choice":
		if err := wants(1, math.MaxInt, "choice(A,B,...)"); err != nil {
			return nil, text, err
		}
		longest := 1
		for _, a := range args {
			longest = max(longest, len([]rune(a)))
		}
		if longest > 4000 {
			return nil, text, fmt.Errorf("a choice is longer than 4000 characters")
		}
		return func(r *rand.Rand) any { return args[r.IntN(len(args))] }, driver.SQLType{Name: "nvarchar", Len: int32(longest)}, nil
	case "text":
		if err := wants(1, 2, "text(LENGTH) or text(FROM,TO)"); err != nil {
			return nil, text, err
		}
		n, err := whole(append(args, args[len(args)-1]))
		if err != nil {
			return nil, text, err
		}
		if n[0] < 0 || n[1] < n[0] || n[1] > 4000 {
			return nil, text, fmt.Errorf("the length of a text lies between 0 and 4000")
		}
		return func(r *rand.Rand) any {
			b := make([]byte, n[0]+r.Int64N(n[1]-n[0]+1))
			for i := range b {
				b[i] = 'a' + byte(r.IntN(26))
			}
			return string(b)
		}, driver.SQLType{Name: "nvarchar", Len: int32(max(n[1], 1))}, nil
	}
	return nil, text, fmt.Errorf("%q is no generator: there are uniform, zipf, seq, uuid, now, choice and text", name)
}

func whole(args []string) ([]int64, error) {
	out := make([]int64, len(args))
	for i, a := range args {
		var err error
		if out[i], err = strconv.ParseInt(a, 10, 64); err != nil {
			return nil, fmt.Errorf("%q is no whole number", a)
		}
	}
	return out, nil
}

func uniform(args []string) (func(*rand.Rand) any, driver.SQLType, error) {
	if n, err := whole(args); err == nil {
		if n[1] < n[0] || n[1]-n[0] < 0 || n[1]-n[0] == math.MaxInt64 {
			return nil, text, fmt.Errorf("%s to %s is no range", args[0], args[1])
		}
		return func(r *rand.Rand) any { return n[0] + r.Int64N(n[1]-n[0]+1) }, driver.SQLType{Name: "bigint"}, nil
	}
	var f [2]float64
	for i, a := range args {
		var err error
		if f[i], err = strconv.ParseFloat(a, 64); err != nil || math.IsNaN(f[i]) || math.IsInf(f[i], 0) {
			return nil, text, fmt.Errorf("%q is no number", a)
		}
	}
	if f[1] < f[0] || math.IsInf(f[1]-f[0], 0) {
		return nil, text, fmt.Errorf("%s to %s is no range", args[0], args[1])
	}
	return func(r *rand.Rand) any { return f[0] + r.Float64()*(f[1]-f[0]) }, driver.SQLType{Name: "float"}, nil
}

func zipf(args []string) (func(*rand.Rand) any, driver.SQLType, error) {
	n, err := whole(args[:2])
	if err != nil {
		return nil, text, err
	}
	if n[1] < n[0] || n[1]-n[0] < 0 {
		return nil, text, fmt.Errorf("%s to %s is no range", args[0], args[1])
	}
	skew := 1.1
	if len(args) == 3 {
		if skew, err = strconv.ParseFloat(args[2], 64); err != nil || !(skew > 1) || skew > 100 {
			return nil, text, fmt.Errorf("the skew of zipf lies above 1")
		}
	}
	return func(r *rand.Rand) any {
		return n[0] + int64(rand.NewZipf(r, skew, 1, uint64(n[1]-n[0])).Uint64())
	}, driver.SQLType{Name: "bigint"}, nil
}
