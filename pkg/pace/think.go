package pace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// MaxThink bounds a think time, so that an exponential draw cannot stop a connection for good.
const MaxThink = 24 * time.Hour

type thinkKind uint8

const (
	thinkConstant thinkKind = iota
	thinkUniform
	thinkExponential
)

// Think is the distribution of the pause between two iterations of a closed loop. The zero value
// is no pause.
type Think struct {
	kind     thinkKind
	from, to time.Duration // constant: from; uniform: both; exponential: from is the mean
}

// ParseThink reads a duration, uniform(10ms,90ms) or exp(50ms), the latter with its mean.
func ParseThink(s string) (Think, error) {
	t := strings.TrimSpace(s)
	name, rest, call := strings.Cut(t, "(")
	if !call {
		d, err := thinkTime(s, t)
		return Think{from: d}, err
	}
	inside, ok := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !ok {
		return Think{}, fmt.Errorf("think time %q: the closing parenthesis is missing", s)
	}
	args := strings.Split(inside, ",")
	switch strings.TrimSpace(name) {
	case "uniform":
		if len(args) != 2 {
			return Think{}, fmt.Errorf("think time %q: write uniform(FROM,TO), as in uniform(10ms,90ms)", s)
		}
		from, err := thinkTime(s, args[0])
		if err != nil {
			return Think{}, err
		}
		to, err := thinkTime(s, args[1])
		if err != nil {
			return Think{}, err
		}
		if to < from {
			return Think{}, fmt.Errorf("think time %q: %v comes before %v", s, to, from)
		}
		return Think{kind: thinkUniform, from: from, to: to}, nil
	case "exp":
		if len(args) != 1 {
			return Think{}, fmt.Errorf("think time %q: write exp(MEAN), as in exp(50ms)", s)
		}
		mean, err := thinkTime(s, args[0])
		return Think{kind: thinkExponential, from: mean}, err
	}
	return Think{}, fmt.Errorf("think time %q: write a duration, uniform(FROM,TO) or exp(MEAN)", s)
}

func thinkTime(whole, part string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(part))
	switch {
	case err != nil:
		return 0, fmt.Errorf("think time %q: %q is no duration: write a number and a unit, as in 50ms", whole, strings.TrimSpace(part))
	case d < 0 || d > MaxThink:
		return 0, fmt.Errorf("think time %q: it must lie between 0 and %v", whole, MaxThink)
	}
	return d, nil
}

// IsZero says that there is never a pause.
func (t Think) IsZero() bool { return t.from == 0 && t.to == 0 }

// Draw is the next pause, from 0 to MaxThink.
func (t Think) Draw(r *rand.Rand) time.Duration {
	switch t.kind {
	case thinkUniform:
		return t.from + time.Duration(r.Int64N(int64(t.to-t.from)+1))
	case thinkExponential:
		return time.Duration(math.Min(r.ExpFloat64()*float64(t.from), float64(MaxThink)))
	}
	return t.from
}

// String is the think time as ParseThink reads it.
func (t Think) String() string {
	switch t.kind {
	case thinkUniform:
		return fmt.Sprintf("uniform(%v,%v)", t.from, t.to)
	case thinkExponential:
		return fmt.Sprintf("exp(%v)", t.from)
	}
	return t.from.String()
}
