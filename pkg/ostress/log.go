package ostress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"gostress/pkg/driver"
)

// Thread is the identity a log line carries, eight hexadecimal digits of it.
type Thread uint32

// Log writes ostress's lines to the console and to ostress.log. A failure to
// write does not stop the run; Err and ConsoleErr tell it at the end. It is safe for
// concurrent use.
type Log struct {
	// Manners say whether the console has gostress's own lines too. Set it before use.
	Manners Manners

	mu      sync.Mutex
	console io.Writer
	file    io.Writer // nil until Attach
	held    strings.Builder
	now     func() time.Time
	main    Thread
	fileErr error
	conErr  error
}

// NewLog writes to console, and to a file once Attach names it: what came before
// is kept for it. Threads are numbered upwards from main.
func NewLog(console io.Writer, now func() time.Time, main Thread) *Log {
	return &Log{console: console, now: now, main: main}
}

// Attach gives the log its file.
func (l *Log) Attach(file io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file = file
	_, l.fileErr = io.WriteString(file, l.held.String())
	l.held.Reset()
}

// Err is the first failure to write the file.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fileErr
}

// ConsoleErr is the first failure to write to the console, such as a full disk
// behind it.
func (l *Log) ConsoleErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conErr
}

// Main is the thread that is not a worker's.
func (l *Log) Main() Thread { return l.main }

// Worker is the thread of a worker, numbered from 0.
func (l *Log) Worker(i int) Thread { return l.main + 4*Thread(i+1) }

// Line writes one line of the main thread.
func (l *Log) Line(format string, args ...any) { l.Block(l.main, fmt.Sprintf(format, args...)) }

// FileLine writes a line of the main thread to the file alone.
func (l *Log) FileLine(format string, args ...any) {
	text := l.line(l.main, fmt.Sprintf(format, args...))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toFile(text)
}

// Note writes a line of gostress's own.
func (l *Log) Note(format string, args ...any) {
	l.own(l.line(l.main, "NOTE: "+fmt.Sprintf(format, args...)))
}

// Own writes text of gostress's own as it stands, such as a summary.
func (l *Log) Own(text string) { l.own(text) }

func (l *Log) own(s string) {
	if l.Manners == AsGostress {
		l.write(s)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toFile(s)
}

// Block writes a line with its continuation lines, which carry no prefix.
func (l *Log) Block(t Thread, first string, more ...string) {
	var sb strings.Builder
	sb.WriteString(l.line(t, first))
	for _, m := range more {
		sb.WriteString(m)
		sb.WriteByte('\n')
	}
	l.write(sb.String())
}

// ErrorBlock writes an error's block: what it is, who says what, where it came from,
// and the empty line that ends it. The place, which may be empty, is a line of
// gostress's own.
func (l *Log) ErrorBlock(t Thread, head, text, place string) {
	begin := l.line(t, head) + text + "\n"
	whole := begin + "\n"
	if place != "" {
		whole = begin + place + "\n\n"
	}
	if l.Manners == AsGostress {
		begin = whole
	} else {
		begin += "\n"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toConsole(begin)
	l.toFile(whole)
}

// Text writes text as it stands, such as a summary.
func (l *Log) Text(text string) { l.write(text) }

func (l *Log) write(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toConsole(s)
	l.toFile(s)
}

// toConsole is called with the lock held.
func (l *Log) toConsole(s string) {
	if _, err := io.WriteString(l.console, s); err != nil && l.conErr == nil {
		l.conErr = err
	}
}

func (l *Log) line(t Thread, text string) string {
	return fmt.Sprintf("%s [0x%08X] %s\n", l.now().Format("01/02/06 15:04:05.000"), uint32(t), text)
}

// toFile is called with the lock held.
func (l *Log) toFile(s string) {
	if l.file == nil {
		l.held.WriteString(s)
		return
	}
	if _, err := io.WriteString(l.file, s); err != nil && l.fileErr == nil {
		l.fileErr = err
	}
}

// Events turns the driver's events into ostress's lines.
type Events struct {
	Log     *Log
	Threads int // T: a line of progress at each hundred when it is above 100
	Verbose bool
	// Inputs are the full paths of the units' input files, empty where there is none.
	Inputs []string
	// Describe says more about a session that logged in, for -v; it may be nil.
	Describe func(driver.Session) string
	created  int
}

// Event implements driver.Plan's Events; the driver calls it from one goroutine.
func (e *Events) Event(ev driver.Event) {
	t := e.Log.Main()
	if ev.Worker >= 0 {
		t = e.Log.Worker(ev.Worker)
	}
	switch ev.Kind {
	case driver.WorkerCreated:
		e.created++
		if e.Threads > 100 && e.created%100 == 0 {
			e.Log.Line("PROGRESS: Creating thread %d", e.created)
		}
	case driver.Begun:
		e.Log.Line("Worker threads created, beginning execution...")
	case driver.Connected:
		if e.Verbose {
			text := "Connected"
			if e.Describe != nil && ev.Session != nil {
				text += ": " + e.Describe(ev.Session)
			}
			e.Log.Block(t, text)
		}
	case driver.ConnectFailed:
		e.Log.Block(t, "Attempt to establish connection failed.  See the detailed errors that follow:",
			append(connectLines(ev.Err, e.input(ev.Unit)), "")...)
	case driver.QueryError:
		e.Log.ErrorBlock(t, errorHead(ev.Server), "[SQL Server]"+strings.TrimRight(ev.Server.Message, "\r\n"), serverPlace(ev.Server, ev.Source))
	case driver.QueryTimeout:
		e.Log.ErrorBlock(t, "SQLState: HYT00, Native Error: 0", "[gostress]Query timeout expired (-t); whether the batch took effect is not known", place(ev.Source))
	case driver.Lost:
		e.Log.ErrorBlock(t, "The connection was lost; whether the batch in flight took effect is not known", "[gostress]"+errText(ev.Err), place(ev.Source))
	case driver.Reconnected:
		e.Log.Block(t, "The connection was opened again")
	case driver.ReconnectFailed:
		if e.Verbose {
			e.Log.Block(t, "The connection could not be opened again yet: "+errText(ev.Err))
		}
	case driver.GaveUp:
		e.Log.Block(t, "The connection is not opened again: "+errText(ev.Err))
	case driver.Retried:
		e.Log.Block(t, at("The batch is sent again: "+errText(ev.Err), ev.Source))
	case driver.Cancelled:
		e.Log.Block(t, at("The batch was cancelled, as CancelPct asks for", ev.Source))
	case driver.Disconnected:
		if ev.Err == nil {
			e.Log.Block(t, "The connection was ended in good order, to be opened again")
		} else {
			e.Log.Block(t, at("The connection was cut while the batch ran, as BatchDisconnectPct asks for", ev.Source))
		}
	case driver.RolledBack:
		text := "A transaction was open when the connection's work ended: it was rolled back"
		if ev.Err != nil {
			text = "A transaction was open when the connection's work ended, and could not be rolled back: " + errText(ev.Err) +
				"; the server rolls it back as the connection ends"
		}
		e.Log.Own(e.Log.line(t, text))
	case driver.TooManyErrors:
		e.Log.Block(t, "The connection ends: it has had too many errors (MaxThreadErrors)")
	case driver.Suppressed:
		e.Log.Block(e.Log.Main(), suppressed(ev))
	case driver.Stopping:
		// Why nobody could connect has been said by the workers.
		if !Told(ev.Err) {
			e.Log.Own(e.Log.line(t, "Stopping: "+errText(ev.Err)))
		}
	case driver.Abandoned:
		e.Log.Block(t, "The worker did not end in time; its connection is left to the operating system")
	}
}

// Told says that a run's error is one that its workers have shown already: that
// nobody could connect.
func Told(err error) bool {
	var le *driver.LoginError
	return errors.Is(err, driver.ErrNoConnection) || errors.As(err, &le)
}

func errText(err error) string {
	if err == nil {
		return "no reason was given"
	}
	return err.Error()
}

func suppressed(ev driver.Event) string {
	what := ev.Of.String() + " events"
	if ev.Of == driver.QueryError {
		what = fmt.Sprintf("errors with number %d", ev.Server.Number)
	}
	return fmt.Sprintf("%d more %s in the last second, not shown one by one", ev.Count, what)
}

// input is the full path of a unit's input file, empty for -Q.
func (e *Events) input(unit int) string {
	if unit < 0 || unit >= len(e.Inputs) {
		return ""
	}
	return e.Inputs[unit]
}

func connectLines(err error, input string) []string {
	state, number := "08001", int32(0)
	var le *driver.LoginError
	if errors.As(err, &le) {
		number = le.Number
		if number == 18456 || number == 18452 {
			state = "28000"
		}
	}
	lines := []string{fmt.Sprintf("SQLState: %s, Native Error: %d", state, number), "[gostress]" + errText(err)}
	if input != "" {
		lines = append(lines, "Input file: "+input)
	}
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		lines = append(lines, "NOTE: -T146 encrypts the login alone, and checks no certificate")
	}
	return lines
}

func errorHead(m driver.ServerError) string {
	head := fmt.Sprintf("SQLState: %s, Native Error: %d, Severity: %d, State: %d, Line: %d",
		sqlState(m.Number), m.Number, m.Class, m.State, m.Line)
	if m.Proc != "" {
		head += ", Procedure: " + m.Proc
	}
	return head
}

// serverPlace is the place of a server's error: of one in the batch itself the
// line of the file too.
func serverPlace(m driver.ServerError, src driver.Source) string {
	text := place(src)
	if text != "" && m.Proc == "" && m.Line > 0 {
		text += fmt.Sprintf("; the error is on line %d of the file", src.Line+int(m.Line)-1)
	}
	return text
}

// at is a line with the place it is about.
func at(text string, src driver.Source) string {
	if p := place(src); p != "" {
		text += " (" + p + ")"
	}
	return text
}

func place(src driver.Source) string {
	if src.File == "" {
		return ""
	}
	return fmt.Sprintf("Input file: %s, batch %d from line %d", src.File, src.Batch, src.Line)
}

// sqlState is the class that ODBC gives an error, as far as scripts read it.
func sqlState(number int32) string {
	switch number {
	case 1205:
		return "40001"
	case 515, 547, 2601, 2627:
		return "23000"
	case 208:
		return "42S02"
	case 207:
		return "42S22"
	case 2714:
		return "42S01"
	case 8134:
		return "22012"
	case 2628, 8152:
		return "22001"
	case 8115, 220:
		return "22003"
	case 1222:
		return "HYT00"
	}
	return "42000"
}
