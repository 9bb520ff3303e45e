// Package pace says when calls begin: rates, think times, schedules of intended starts, and the
// pacer that releases what is due. Everything but the pacer is a pure function of its arguments
// and a seed.
package pace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxRate is the highest rate that is accepted: one arrival a microsecond.
const MaxRate Rate = 1e6

// Rate is a number of arrivals a second.
type Rate float64

// ParseRate reads a number with a unit of time: 2000/s, 2000/sec, 120/min, 36000/h. Without a
// unit it is a second. It must be above zero and at most MaxRate.
func ParseRate(s string) (Rate, error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(s), "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return 0, fmt.Errorf("rate %q: write a number and a unit, as in 2000/s, 120/min or 36000/h", s)
	}
	switch strings.TrimSpace(unit) {
	case "s", "sec":
	case "":
		if strings.Contains(s, "/") {
			return 0, fmt.Errorf("rate %q: the unit behind / is missing: s, min or h", s)
		}
	case "m", "min":
		n /= 60
	case "h":
		n /= 3600
	default:
		return 0, fmt.Errorf("rate %q: %q is no unit: write s, min or h", s, strings.TrimSpace(unit))
	}
	switch {
	case math.IsNaN(n) || n <= 0:
		return 0, fmt.Errorf("rate %q: it must be above zero", s)
	case Rate(n) > MaxRate:
		return 0, fmt.Errorf("rate %q: at most %v are possible", s, MaxRate)
	case n < 1e-6:
		return 0, fmt.Errorf("rate %q: it is less than one in eleven days", s)
	}
	return Rate(n), nil
}

// String is the rate as ParseRate reads it.
func (r Rate) String() string {
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s"
}

// Gap is the mean time between two arrivals.
func (r Rate) Gap() time.Duration {
	return time.Duration(float64(time.Second) / float64(r))
}
