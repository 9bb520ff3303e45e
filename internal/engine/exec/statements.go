package exec

import (
	"strconv"
	"strings"
	"time"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/catalog"
	"gostress/internal/engine/expr"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

func (cc *compiler) print(n *ast.PrintStatement) (*code, error) {
	x, err := cc.scalarAs(n.Expression, types.NVarChar(4000))
	if err != nil {
		return nil, err
	}
	line := cc.in.line
	return simple(func(s *Session, fr *frame) error {
		v, err := x.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		text := " "
		if !v.IsNull() && v.Str() != "" {
			text = v.Str()
		}
		return s.info(0, 1, 0, int(line), text)
	}), nil
}

func (cc *compiler) throw(n *ast.ThrowStatement) (*code, error) {
	if n.ErrorNumber == nil {
		if cc.in.catch == 0 {
			return nil, sqlerr.New(10704, 15, 1, "To throw an error again, a THROW statement must be within a CATCH block. Give it parameters, or put it there.")
		}
		return quiet(func(s *Session, fr *frame) error {
			if len(s.caught) == 0 {
				return sqlerr.New(10704, 15, 1, "There is no error to throw again.")
			}
			e := s.caught[len(s.caught)-1]
			return &thrown{err: e, level: levelBatch, keepTran: !endsBatch(e.Number), located: true}
		}), nil
	}
	num, err := cc.scalarAs(n.ErrorNumber, types.Int)
	if err != nil {
		return nil, err
	}
	msg, err := cc.scalarAs(n.Message, types.NVarChar(2048))
	if err != nil {
		return nil, err
	}
	state, err := cc.scalarAs(n.State, types.Int)
	if err != nil {
		return nil, err
	}
	return quiet(func(s *Session, fr *frame) error {
		var v [3]types.Value
		for i, x := range []expr.Expr{num, msg, state} {
			var err error
			if v[i], err = x.Eval(&fr.Frame); err != nil {
				return err
			}
		}
		if number := v[0].Int(); number < 50000 || number > 2147483647 {
			return sqlerr.New(35100, 16, 10, "Error number %d in the THROW statement is out of range. Use one from 50000 to 2147483647.", number)
		}
		return &thrown{err: &sqlerr.Error{Number: int32(v[0].Int()), Class: 16, State: uint8(v[2].Int()), Text: v[1].Str()},
			level: levelBatch, keepTran: true}
	}), nil
}

func (cc *compiler) raiserror(n *ast.RaiseErrorStatement) (*code, error) {
	msg, err := cc.scalar(n.FirstParameter)
	if err != nil {
		return nil, err
	}
	sev, err := cc.scalarAs(n.SecondParameter, types.Int)
	if err != nil {
		return nil, err
	}
	state, err := cc.scalarAs(n.ThirdParameter, types.Int)
	if err != nil {
		return nil, err
	}
	var args []expr.Expr
	for _, a := range n.OptionalParameters {
		x, err := cc.scalar(a)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	nowait, log, seterror := raiseOptions(n.RaiseErrorOptions)
	line := cc.in.line
	return quiet(func(s *Session, fr *frame) error {
		m, err := msg.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		class, err := sev.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		st, err := state.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		var vals []types.Value
		for _, a := range args {
			v, err := a.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			vals = append(vals, v)
		}
		e := &sqlerr.Error{Number: 50000, Class: uint8(min(max(class.Int(), 0), 25)), State: raiseState(st.Int())}
		if msg.Type.Kind.IsNumeric() {
			if m.Int() < 13000 {
				return sqlerr.New(2732, 16, 1, "Error number %d is not valid. It must be from 13000 to 2147483647, and not 50000.", m.Int())
			}
			return sqlerr.New(18054, 16, 1, "Error %d, severity %d, state %d was raised, but the embedded engine keeps no messages of your own in sys.messages.", m.Int(), class.Int(), st.Int())
		}
		if e.Text, err = formatMessage(m.Str(), vals); err != nil {
			return err
		}
		if e.Class > 18 && !log {
			return sqlerr.New(2754, 16, 1, "Error severity levels above 18 need the WITH LOG option.")
		}
		if e.Class > 10 {
			return &thrown{err: e, raised: true}
		}
		e.Line, e.Proc = line, s.procName()
		if !seterror {
			e.Number = 50000
		}
		if err := s.sendMessage(e); err != nil {
			return err
		}
		s.rowCount = 0
		if err := s.sendDone(CmdOther, -1, false); err != nil {
			return err
		}
		if nowait {
			return s.em.event(&Flush{})
		}
		return nil
	}), nil
}

func raiseState(n int64) uint8 {
	if n < 0 {
		return 1
	}
	return uint8(min(n, 255))
}

func raiseOptions(o string) (nowait, log, seterror bool) {
	o = strings.ToLower(o)
	return strings.Contains(o, "nowait"), strings.Contains(o, "log"), strings.Contains(o, "seterror")
}

// formatMessage fills in RAISERROR's and FORMATMESSAGE's printf-like text:
// %[flags][width][.precision]{d|i|o|u|x|X|s}, %I64d and %%.
func formatMessage(text string, args []types.Value) (string, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '%' {
			b.WriteByte('%')
			i++
			continue
		}
		j := i + 1
		left, zero, plus, hash := false, false, false, false
	flags:
		for ; j < len(text); j++ {
			switch text[j] {
			case '-':
				left = true
			case '0':
				zero = true
			case '+':
				plus = true
			case '#':
				hash = true
			case ' ':
			default:
				break flags
			}
		}
		number := func() int {
			if j < len(text) && text[j] == '*' {
				j++
				if next < len(args) {
					next++
					return int(args[next-1].Int())
				}
				return 0
			}
			n := 0
			for ; j < len(text) && text[j] >= '0' && text[j] <= '9'; j++ {
				n = min(n*10+int(text[j]-'0'), 2048)
			}
			return n
		}
		width, prec := number(), -1
		if j < len(text) && text[j] == '.' {
			j++
			prec = number()
		}
		if strings.HasPrefix(text[j:], "I64") {
			j += 3
		} else if j < len(text) && (text[j] == 'l' || text[j] == 'h') {
			j++
		}
		if j >= len(text) || !strings.ContainsRune("diouxXs", rune(text[j])) {
			return "", sqlerr.New(2787, 16, 1, "The format specification '%s' is not valid.", text[i:min(j+1, len(text))])
		}
		var v types.Value
		missing := next >= len(args)
		if !missing {
			v = args[next]
			next++
		}
		if !missing && !v.IsNull() && (text[j] == 's') != v.Kind().IsString() {
			return "", sqlerr.New(2786, 16, 1, "The data type of substitution parameter %d does not fit the format specification.", next)
		}
		b.WriteString(formatArg(text[j], v, width, prec, left, zero, plus, hash))
		i = j
	}
	return b.String(), nil
}

func formatArg(verb byte, v types.Value, width, prec int, left, zero, plus, hash bool) string {
	out := "(null)"
	if !v.IsNull() {
		switch verb {
		case 's':
			out = v.Str()
			if prec >= 0 && prec < len([]rune(out)) {
				out = string([]rune(out)[:prec])
			}
		case 'o':
			out = strconv.FormatUint(unsigned(v), 8)
		case 'x', 'X':
			out = strconv.FormatUint(unsigned(v), 16)
			if hash {
				out = "0x" + out
			}
			if verb == 'X' {
				out = strings.ToUpper(out)
			}
		case 'u':
			out = strconv.FormatUint(unsigned(v), 10)
		default:
			out = strconv.FormatInt(v.Int(), 10)
			if plus && v.Int() >= 0 {
				out = "+" + out
			}
		}
	}
	if n := width - len([]rune(out)); n > 0 {
		switch {
		case left:
			out += strings.Repeat(" ", n)
		case zero && verb != 's':
			sign := ""
			if out[0] == '-' || out[0] == '+' {
				sign, out = out[:1], out[1:]
			}
			out = sign + strings.Repeat("0", n) + out
		default:
			out = strings.Repeat(" ", n) + out
		}
	}
	return out
}

func unsigned(v types.Value) uint64 {
	if v.Kind() == types.KindBigInt {
		return uint64(v.Int())
	}
	return uint64(uint32(v.Int()))
}

func (cc *compiler) waitFor(n *ast.WaitForStatement) (*code, error) {
	if n.Statement != nil || n.Timeout != nil {
		return nil, sqlerr.Unsupported("WAITFOR of Service Broker")
	}
	x, err := cc.scalar(n.Parameter)
	if err != nil {
		return nil, err
	}
	option := n.WaitForOption
	if strings.EqualFold(option, "Time") {
		return simple(func(s *Session, fr *frame) error {
			v, err := x.Eval(&fr.Frame)
			if err != nil {
				return err
			}
			t, err := types.Convert(v, types.Time(7), 0)
			if err != nil {
				return badWait(v)
			}
			now := s.Now()
			ofDay := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute + time.Duration(now.Second())*time.Second + time.Duration(now.Nanosecond())
			d := time.Duration(t.Ticks())*100 - ofDay
			if d < 0 {
				d += 24 * time.Hour
			}
			return s.sleep(d)
		}), nil
	}
	return simple(func(s *Session, fr *frame) error {
		v, err := x.Eval(&fr.Frame)
		if err != nil {
			return err
		}
		var d time.Duration
		switch {
		case v.IsNull():
			return nil
		case v.Kind() == types.KindDateTime:
			days, ticks := v.DateTimeParts()
			if days != 0 {
				return badWait(v)
			}
			d = time.Duration(ticks) * time.Second / 300
		default:
			var ok bool
			if d, ok = parseDelay(types.Format(v)); !ok {
				return badWait(v)
			}
		}
		return s.sleep(d)
	}), nil
}

func badWait(v types.Value) error {
	return sqlerr.New(148, 15, 1, "Incorrect time syntax in the string '%s' of WAITFOR.", types.Format(v))
}

// parseDelay reads WAITFOR DELAY's 'hh:mm[[:ss].mss]', below 24 hours.
func parseDelay(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	var frac time.Duration
	if i := strings.IndexByte(text, '.'); i >= 0 {
		f := text[i+1:]
		if f == "" || len(f) > 9 {
			return 0, false
		}
		n, err := strconv.ParseUint(f+strings.Repeat("0", 9-len(f)), 10, 64)
		if err != nil {
			return 0, false
		}
		frac, text = time.Duration(n), text[:i]
	}
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	limits := []int{24, 60, 60}
	var total time.Duration
	for i, u := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if i >= len(parts) {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil || n < 0 || n >= limits[i] {
			return 0, false
		}
		total += time.Duration(n) * u
	}
	return total + frac, true
}

// sleep waits, or ends at once when the request is cancelled.
func (s *Session) sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	s.live.wait("WAITFOR", 0)
	defer s.live.waited()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.done:
		return s.cancelled()
	}
}

func (cc *compiler) transaction(st ast.Statement) (*code, error) {
	if cc.p.atomic != nil {
		return nil, sqlerr.New(10794, 16, 91, "The statement '%s' is not supported with natively compiled modules.", construct(st))
	}
	var nameExpr *ast.IdentifierOrValueExpression
	switch n := st.(type) {
	case *ast.BeginTransactionStatement:
		if n.Distributed {
			return nil, sqlerr.Unsupported("BEGIN DISTRIBUTED TRANSACTION")
		}
		nameExpr = n.Name
	case *ast.CommitTransactionStatement:
		nameExpr = n.Name
	case *ast.RollbackTransactionStatement:
		nameExpr = n.Name
	case *ast.SaveTransactionStatement:
		nameExpr = n.Name
	}
	name, err := cc.tranName(nameExpr)
	if err != nil {
		return nil, err
	}
	switch st.(type) {
	case *ast.BeginTransactionStatement:
		return simple(func(s *Session, fr *frame) error { return s.beginTran(name(fr)) }), nil
	case *ast.CommitTransactionStatement:
		return simple(func(s *Session, fr *frame) error { return s.commitTran() }), nil
	case *ast.RollbackTransactionStatement:
		return simple(func(s *Session, fr *frame) error {
			if s.capture != nil {
				return sqlerr.New(3915, 16, 0, "ROLLBACK is not allowed within an INSERT-EXEC statement.")
			}
			return s.rollbackTran(name(fr))
		}), nil
	}
	return simple(func(s *Session, fr *frame) error { return s.saveTran(name(fr)) }), nil
}

// tranName compiles the name of a transaction or savepoint: an identifier or a
// variable.
func (cc *compiler) tranName(n *ast.IdentifierOrValueExpression) (func(fr *frame) string, error) {
	fixed := ""
	if n != nil {
		switch {
		case n.Identifier != nil:
			fixed = n.Identifier.Value
		case n.ValueExpression != nil:
			x, err := cc.scalarAs(n.ValueExpression, types.NVarChar(32))
			if err != nil {
				return nil, err
			}
			return func(fr *frame) string {
				v, err := x.Eval(&fr.Frame)
				if err != nil || v.IsNull() {
					return ""
				}
				return v.Str()
			}, nil
		default:
			fixed = n.Value
		}
	}
	return func(*frame) string { return fixed }, nil
}

func (cc *compiler) use_(n *ast.UseStatement) (*code, error) {
	if cc.p.kind == kindProcedure || cc.p.kind == kindFunction {
		return nil, sqlerr.New(154, 15, 1, "A USE database statement is not allowed in a procedure, function or trigger.")
	}
	name := n.DatabaseName.Value
	return simple(func(s *Session, fr *frame) error { return s.useDatabase(name, int(cc.in.line)) }), nil
}

// useDatabase makes another database the current one.
func (s *Session) useDatabase(name string, line int) error {
	db, ok := s.e.cat.Database(name)
	if !ok {
		return errNoDatabase(name)
	}
	old := s.db()
	s.dbp.Store(db)
	if err := s.sendEnv(EnvDatabase, db.Name(), old.Name(), 0); err != nil {
		return err
	}
	return s.info(5701, 2, 0, line, "Changed the database context to '"+db.Name()+"'.")
}

func errNoDatabase(name string) *sqlerr.Error {
	return sqlerr.New(911, 16, 1, "Database '%s' is not there. Check that its name is written correctly.", name)
}

func (s *Session) db() *catalog.Database { return s.dbp.Load() }
