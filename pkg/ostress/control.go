package ostress

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gostress/pkg/ini"
	"gostress/pkg/script"
	"gostress/pkg/target"
)

// Control is a control file (-c), read. Microsoft published CancelPct alone of
// its keys; the others, and all defaults, are as people recall them. Percentages
// are from 0 to 100.
type Control struct {
	Path       string // "" when there is no file
	Connection ConnectionOptions
	Query      QueryOptions
	Replay     ReplayOptions

	given map[string]int // line of each key by its lower-case name; negative where the value is empty
}

// ConnectionOptions are the section [Connection Options].
type ConnectionOptions struct {
	LoginTimeout     time.Duration // LoginTimeoutSecs; 0 is none
	QuotedIdentifier bool
	AutocommitMode   bool    // off: implicit transactions
	DisconnectPct    float64 // of the iterations, behind which the connection is closed in good order
	MaxThreadErrors  int64   // a worker ends after so many failed batches; 0 is none
}

// QueryOptions are the section [Query Options].
type QueryOptions struct {
	NoSQLBindCol       bool
	NoResultDisplay    bool // as -q
	PrepareExecute     bool
	ExecuteAsync       bool
	RollbackOnCancel   bool
	QueryTimeout       time.Duration // QueryTimeoutSecs; 0 is none
	QueryDelay         time.Duration // milliseconds in the file
	MaxRetries         int
	BatchDisconnectPct float64
	CancelPct          float64
	CancelDelay        time.Duration // milliseconds in the file
	CancelDelayMin     time.Duration // milliseconds in the file
	CursorType         string        // as target.ParseCursor takes it
	CursorConcurrency  string        // as target.ParseCursor takes it
	RowFetchDelay      time.Duration // milliseconds in the file
}

// ReplayOptions are the section [Replay Options].
type ReplayOptions struct {
	Sequencing    string        // Sequencing Options, as they stand
	DTCTimeout    time.Duration // DTC Timeout, seconds in the file; 0 when not given
	DTCMachine    string
	Coordinator   string  // Playback Coordinator
	StartSeqNum   int64   // 0 when not given
	StopSeqNum    int64   // 0 when not given
	TimeoutFactor float64 // scales the recorded pace; above 0
}

// globalSequence is the one kind of sequencing that is known.
const globalSequence = "global sequence"

// local is the default of the two machines of distributed transactions.
const local = "(local)"

// DefaultControl is what runs without a control file go by.
func DefaultControl() Control {
	return Control{
		Connection: ConnectionOptions{LoginTimeout: 30 * time.Second, QuotedIdentifier: true, AutocommitMode: true},
		Replay:     ReplayOptions{Sequencing: globalSequence, DTCMachine: local, Coordinator: local, TimeoutFactor: 1},
	}
}

// Given says whether the file gives a key a value, so that what holds without
// the key can be another thing than its default here.
func (c *Control) Given(key string) bool { return c.given[strings.ToLower(key)] > 0 }

// Where is the place of a key for a message: "sample.ini, line 7".
func (c *Control) Where(key string) string {
	return fmt.Sprintf("%s, line %d", c.Path, c.given[strings.ToLower(key)])
}

// Changed names the keys of a section whose value is another than its default.
func (c *Control) Changed(section string) []string {
	def := DefaultControl()
	mine, theirs := c.sections(), def.sections()
	var out []string
	for i, s := range mine {
		if s.name != section {
			continue
		}
		for j, k := range s.keys {
			if k.value.text() != theirs[i].keys[j].value.text() {
				out = append(out, k.name)
			}
		}
	}
	return out
}

// LoadControl reads a control file in any encoding that script.Decode knows.
func LoadControl(path string) (Control, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Control{}, fmt.Errorf("cannot read the control file %s: %w", path, plain(err))
	}
	text, _, err := script.Decode(b)
	if err != nil {
		var e *script.Error
		if errors.As(err, &e) {
			e.Path = path
		}
		return Control{}, err
	}
	return ReadControl(path, text)
}

// ReadControl reads the text of a control file. An empty value is the default.
// The error names every unknown section and key, every value that cannot be
// read and every key that stands twice, each with its line.
func ReadControl(path, text string) (Control, error) {
	c := DefaultControl()
	c.Path, c.given = path, map[string]int{}
	file, faults := ini.Parse(text)
	var bad []ini.Fault
	bad = append(bad, faults...)
	known := c.sections()
	for _, s := range file.Sections {
		i := slices.IndexFunc(known, func(k controlSection) bool { return strings.EqualFold(k.name, s.Name) })
		if i < 0 {
			if s.Name == "" {
				bad = append(bad, ini.Fault{Line: s.Entries[0].Line, Text: "a key stands before the first section"})
			} else {
				bad = append(bad, ini.Fault{Line: s.Line, Text: fmt.Sprintf("unknown section [%s]; there are %s", s.Name, names(known))})
			}
			continue
		}
		for _, e := range s.Entries {
			if err := c.take(known, i, e); err != nil {
				bad = append(bad, ini.Fault{Line: e.Line, Text: err.Error()})
			}
		}
	}
	slices.SortStableFunc(bad, func(a, b ini.Fault) int { return a.Line - b.Line })
	var errs []error
	for _, f := range bad {
		errs = append(errs, fmt.Errorf("%s, %w", path, f))
	}
	return c, errors.Join(errs...)
}

// take reads one entry of the section with index i.
func (c *Control) take(known []controlSection, i int, e ini.Entry) error {
	s := known[i]
	for _, k := range s.keys {
		if !strings.EqualFold(k.name, e.Key) {
			continue
		}
		if first := c.given[strings.ToLower(k.name)]; first != 0 {
			return fmt.Errorf("%s stands twice: on line %d already", k.name, abs(first))
		}
		value := ini.Bare(e.Value)
		if value == "" {
			c.given[strings.ToLower(k.name)] = -e.Line // seen, not given
			return nil
		}
		c.given[strings.ToLower(k.name)] = e.Line
		if err := k.value.set(value); err != nil {
			return fmt.Errorf("%s=%s: %w", k.name, value, err)
		}
		return nil
	}
	for _, other := range known {
		for _, k := range other.keys {
			if strings.EqualFold(k.name, e.Key) {
				return fmt.Errorf("%s belongs to section [%s], not [%s]", k.name, other.name, s.name)
			}
		}
	}
	return fmt.Errorf("unknown key %q in section [%s]", e.Key, s.name)
}

func abs(n int) int { return max(n, -n) }

func names(known []controlSection) string {
	var out []string
	for _, s := range known {
		out = append(out, "["+s.name+"]")
	}
	return strings.Join(out, ", ")
}

// value is how a key's text and its field in Control belong together.
type value struct {
	set  func(string) error
	text func() string
}

func onOff(p *bool) value {
	return value{
		set: func(s string) error {
			on, ok := ini.Switch(s)
			if !ok {
				return errors.New("write On or Off")
			}
			*p = on
			return nil
		},
		text: func() string {
			if *p {
				return "On"
			}
			return "Off"
		},
	}
}

func percent(p *float64) value {
	return value{
		set: func(s string) error {
			f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
			if err != nil || math.IsNaN(f) || f < 0 || f > 100 {
				return errors.New("write a percentage from 0.00 to 100.00")
			}
			*p = f
			return nil
		},
		text: func() string { return decimals(*p, 2) },
	}
}

// decimals writes all figures of f, and at least so many behind the point.
func decimals(f float64, least int) string {
	long, short := strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'f', least, 64)
	if len(long) > len(short) {
		return long
	}
	return short
}

func factor(p *float64) value {
	return value{
		set: func(s string) error {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(f) || f <= 0 || f > 1e6 {
				return errors.New("write a number above 0, such as 1.0")
			}
			*p = f
			return nil
		},
		text: func() string { return decimals(*p, 1) },
	}
}

// whole is a whole number from least to most. A least of 1 makes 0 the value of
// a key without one.
func whole(p *int64, least, most int64) value {
	return value{
		set: func(s string) error {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < least || n > most {
				return fmt.Errorf("write a whole number from %d to %d", least, most)
			}
			*p = n
			return nil
		},
		text: func() string {
			if *p == 0 && least > 0 {
				return ""
			}
			return strconv.FormatInt(*p, 10)
		},
	}
}

func count(p *int) value {
	var n int64
	w := whole(&n, 0, math.MaxInt32)
	return value{
		set: func(s string) error {
			err := w.set(s)
			*p = int(n)
			return err
		},
		text: func() string { return strconv.Itoa(*p) },
	}
}

// span is a time in whole units of the file's.
func span(p *time.Duration, unit time.Duration, least int64) value {
	var n int64
	w := whole(&n, least, int64(1e12)/int64(unit/time.Millisecond))
	return value{
		set: func(s string) error {
			err := w.set(s)
			*p = time.Duration(n) * unit
			return err
		},
		text: func() string {
			n = int64(*p / unit)
			return w.text()
		},
	}
}

// cursor is one of the two words that make a cursor.
func cursor(p *string, parse func(string) error) value {
	return value{
		set: func(s string) error {
			*p = s
			return parse(s)
		},
		text: func() string { return *p },
	}
}

func cursorType(s string) error {
	_, err := target.ParseCursor(s, "")
	return err
}

func cursorConcurrency(s string) error {
	_, err := target.ParseCursor("", s)
	return err
}

// text is any text. One that is the key's default but for the case of its
// letters is the default.
func text(p *string, otherwise string) value {
	return value{
		set: func(s string) error {
			*p = s
			if strings.EqualFold(s, otherwise) {
				*p = otherwise
			}
			return nil
		},
		text: func() string { return *p },
	}
}

// controlKey is a key of the file: its name, its field, and what it does.
type controlKey struct {
	name  string
	value value
	about string
}

// The names of the sections.
const (
	ConnectionSection = "Connection Options"
	QuerySection      = "Query Options"
	ReplaySection     = "Replay Options"
)

type controlSection struct {
	name string
	keys []controlKey
}
