package scenario

import (
	"context"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"gostress/pkg/driver"
	"gostress/pkg/script"
)

// commands is the program of an .rml file in stress mode: each iteration runs its commands in the
// file's order, whatever their sequence numbers.
type commands struct {
	ctx   context.Context
	steps []commandStep
	// reopen, if set, begins each iteration but the first: the file begins with a connection and
	// leaves it open.
	reopen *driver.Request
}

// commandStep is what one command of an .rml file sends.
type commandStep struct {
	requests []*driver.Request
	after    time.Duration
}

func (p *commands) Iteration(_ driver.Worker, i int64) iter.Seq[*driver.Request] {
	return func(yield func(*driver.Request) bool) {
		if i > 0 && p.reopen != nil && !yield(p.reopen) {
			return
		}
		for k, s := range p.steps {
			for _, r := range s.requests {
				if !yield(r) {
					return
				}
			}
			if s.after > 0 && !pause(p.ctx, s.after) {
				if k < len(p.steps)-1 {
					yield(&unfinished)
				}
				return
			}
		}
	}
}

// unfinished is what a program yields when a pause was cut short and commands remain: the driver,
// which is stopping, then knows that the iteration is not complete, and nothing is sent.
var unfinished = driver.Request{Kind: driver.Disconnect}

// fromCommands makes the program of an .rml file.
func fromCommands(ctx context.Context, s script.Script) (*commands, error) {
	steps, open, err := commandSteps(s.Path, s.Commands)
	if err != nil {
		return nil, err
	}
	p := &commands{ctx: ctx, steps: steps}
	if open && len(s.Commands) > 0 && s.Commands[0].Kind == script.Connect {
		p.reopen = disconnect(commandSource(s.Path, 0, s.Commands[0]))
	}
	return p, nil
}

// commandSteps makes the steps of commands, one each, and says whether they leave a connection
// open. A CONNECT at their head is the login that each connection begins with; any other ends the
// session that is open. The next request opens another.
func commandSteps(path string, cmds []script.Command) (steps []commandStep, open bool, err error) {
	steps = make([]commandStep, len(cmds))
	for i, c := range cmds {
		source := commandSource(path, i, c)
		st := &steps[i]
		st.after = c.After
		if open && (c.Kind == script.Connect || c.Kind == script.Disconnect) {
			st.requests = append(st.requests, disconnect(source))
		}
		open = c.Kind != script.Disconnect
		if c.Text == "" {
			continue
		}
		r, err := commandRequest(c, source)
		if err != nil {
			return nil, false, err
		}
		st.requests = append(st.requests, r)
	}
	return steps, open, nil
}

func disconnect(source driver.Source) *driver.Request {
	return &driver.Request{Kind: driver.Disconnect, Source: source}
}

func commandSource(path string, i int, c script.Command) driver.Source {
	return driver.Source{File: fullPath(path), Line: c.TextLine, Batch: i + 1}
}

func fullPath(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// commandRequest makes the request of a command that has a text.
func commandRequest(c script.Command, source driver.Source) (*driver.Request, error) {
	if c.Call != nil {
		if params, ok := callParams(c.Call.Args); ok {
			return &driver.Request{Kind: driver.RPC, Proc: c.Call.Proc, Params: params, Source: source}, nil
		}
	}
	return request(c.Text, source)
}

// callParams gives literals the types they have in T-SQL, strings and bytes with the greatest
// length, so that calls of a procedure share a plan. NULL has no type there: nvarchar converts to
// nearly every other. It is false for a number that no type holds.
func callParams(args []script.Arg) ([]driver.Param, bool) {
	params := make([]driver.Param, len(args))
	for i, a := range args {
		p := driver.Param{Name: a.Name}
		switch a.Kind {
		case script.Null:
			p.Type = driver.SQLType{Name: "nvarchar", Len: 4000}
		case script.Integer, script.Decimal:
			var ok bool
			if p.Type, p.Value, ok = exactNumber(a.Text); !ok {
				return nil, false
			}
		case script.Float:
			f, err := strconv.ParseFloat(a.Text, 64)
			if err != nil {
				return nil, false
			}
			p.Type, p.Value = driver.SQLType{Name: "float"}, f
		case script.Varchar:
			p.Type, p.Value = driver.SQLType{Name: "varchar", Len: upTo(8000, len(a.Text))}, a.Text
			if !ascii(a.Text) { // the code page is the database's, which is not known here
				p.Type = wide(a.Text)
			}
		case script.NVarchar:
			p.Type, p.Value = wide(a.Text), a.Text
		case script.Binary:
			p.Type, p.Value = driver.SQLType{Name: "varbinary", Len: upTo(8000, len(a.Text))}, []byte(a.Text)
		}
		params[i] = p
	}
	return params, true
}

func wide(s string) driver.SQLType {
	return driver.SQLType{Name: "nvarchar", Len: upTo(4000, len(utf16.Encode([]rune(s))))}
}

// upTo is the declared length for a value of n: most, or max.
func upTo(most int32, n int) int32 {
	if n > int(most) {
		return -1
	}
	return most
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// exactNumber is an int, a bigint, or a numeric as long as its digits.
func exactNumber(text string) (driver.SQLType, any, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n == int64(int32(n)) {
			return driver.SQLType{Name: "int"}, n, true
		}
		return driver.SQLType{Name: "bigint"}, n, true
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	prec := max(len(whole)+len(fraction), 1)
	if prec > 38 {
		return driver.SQLType{}, nil, false
	}
	if whole == "" {
		whole = "0"
	}
	value := whole
	if fraction != "" {
		value += "." + fraction
	}
	if negative {
		value = "-" + value
	}
	return driver.SQLType{Name: "numeric", Prec: uint8(prec), Scale: uint8(len(fraction))}, value, true
}
