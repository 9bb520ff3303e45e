package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"gostress/internal/tds"
	"gostress/pkg/ostress"
	"gostress/pkg/script"
	"gostress/pkg/target"
)

// TestCorpus runs the command lines of testdata/corpus, whose shapes people publish,
// against a server that records what reaches it. testdata/corpus/README.md tells the
// format, and which fact about ostress is held by which case.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	n := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := parseCorpus(f, string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if n++; seen[c.command] {
				t.Errorf("%s: the command line is there twice: %s", c.name, c.command)
			}
			seen[c.command] = true
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t)
			})
		}
	}
	if n < 60 {
		t.Errorf("the corpus has %d command lines only", n)
	}
}

// corpusPassword is the password of every login in the corpus.
const corpusPassword = "P@ssw0rd!"

// corpusCase is one command line with what must come of it.
type corpusCase struct {
	name    string
	command string // as somebody typed it
	files   []corpusFile
	env     []string
	typed   string // on the terminal that is its standard input
	twice   bool   // it runs again, and that is looked at
	dead    bool   // nobody listens
	rec     recorder
	address string            // what -S means
	login   map[string]string // nil: nobody may log in
	wire    string
	logins  int // in place of wire: so many connections, and nobody knows how far their requests came
	exit    int
	threads int // 0: as many as connections
	print   []*regexp.Regexp
	never   []*regexp.Regexp
	log     []*regexp.Regexp
	out     []string          // the result files, nil: not looked at
	holds   map[string]string // text that a file must have in it
}

type corpusFile struct{ name, encoding, text string }

var corpusDirective = regexp.MustCompile(`^(\$|[a-z]+)(?: (.*))?$`)

func parseCorpus(path, text string) ([]*corpusCase, error) {
	var out []*corpusCase
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		fail := func(err error) error { return fmt.Errorf("%s, line %d: %w", path, i+1, err) }
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "= "); ok {
			out = append(out, &corpusCase{name: strings.TrimSuffix(filepath.Base(path), ".txt") + "/" + name, holds: map[string]string{}})
			continue
		}
		m := corpusDirective.FindStringSubmatch(line)
		if m == nil || len(out) == 0 {
			return nil, fail(errors.New("not a directive"))
		}
		var block []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			block = append(block, lines[i][1:])
		}
		if err := out[len(out)-1].set(m[1], m[2], block); err != nil {
			return nil, fail(err)
		}
	}
	return out, nil
}

func (c *corpusCase) set(directive, arg string, block []string) error {
	var err error
	re := func(list *[]*regexp.Regexp) {
		var r *regexp.Regexp
		if r, err = regexp.Compile("(?m)" + arg); err == nil {
			*list = append(*list, r)
		}
	}
	switch directive {
	case "$":
		c.command = strings.Join(append([]string{arg}, block...), "\n")
	case "file":
		f := corpusFile{name: arg, text: marked.Replace(strings.Join(block, "\n"))}
		if i := strings.LastIndex(arg, " in "); i > 0 {
			f.name, f.encoding = arg[:i], arg[i+4:]
		}
		c.files = append(c.files, f)
	case "env":
		c.env = append(c.env, arg)
	case "types":
		c.typed = arg
	case "twice":
		c.twice = true
	case "server":
		return c.server(arg)
	case "answer":
		return c.answer(arg)
	case "address":
		c.address = arg
	case "login":
		c.login = map[string]string{"encrypt": "on", "packet": "4096", "app": "gostress/*", "language": "", "db": "", "instance": "", "intent": "readwrite"}
		for _, kv := range strings.Fields(arg) {
			k, v, _ := strings.Cut(kv, "=")
			c.login[k] = strings.ReplaceAll(v, "+", " ")
		}
	case "wire":
		c.wire = strings.Join(block, "\n") + "\n"
	case "logins":
		c.logins, err = strconv.Atoi(arg)
	case "exit":
		c.exit, err = strconv.Atoi(arg)
	case "threads":
		c.threads, err = strconv.Atoi(arg)
	case "print":
		re(&c.print)
	case "never":
		re(&c.never)
	case "log":
		re(&c.log)
	case "out":
		c.out = strings.Fields(arg)
		for i := range c.out {
			c.out[i] = strings.ReplaceAll(c.out[i], "+", " ")
		}
	case "holds":
		name, text, _ := strings.Cut(arg, ": ")
		c.holds[name] = text
	default:
		err = fmt.Errorf("unknown directive %q", directive)
	}
	return err
}

func (c *corpusCase) server(arg string) error {
	word, rest, _ := strings.Cut(arg, " ")
	switch word {
	case "plain":
		c.rec.plain = true
	case "dead":
		c.dead = true
	case "refuses":
		r, err := failureReply(rest)
		c.rec.refuse = &r
		return err
	default:
		return fmt.Errorf("unknown server %q", arg)
	}
	return nil
}

// answer reads "PATTERN -> [N times] rows N | error NUMBER CLASS TEXT | drop | wait | begin".
func (c *corpusCase) answer(arg string) error {
	pattern, what, ok := strings.Cut(arg, " -> ")
	if !ok {
		return errors.New("an answer has no ->")
	}
	on, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	times := 0
	if n, rest, found := strings.Cut(what, " times "); found {
		if times, err = strconv.Atoi(n); err != nil {
			return err
		}
		what = rest
	}
	r := reply{}
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "rows":
		r.rows, err = strconv.Atoi(rest)
	case "error":
		r, err = failureReply(rest)
	case "drop":
		r.drop = true
	case "wait":
		r.wait = true
	case "begin":
		r.wait, r.begin = true, true
	default:
		err = fmt.Errorf("unknown answer %q", what)
	}
	r.on, r.times = on, times
	c.rec.replies = append(c.rec.replies, r)
	return err
}

func failureReply(s string) (reply, error) {
	var r reply
	f := strings.SplitN(s, " ", 3)
	if len(f) != 3 {
		return r, errors.New("an error is NUMBER CLASS TEXT")
	}
	n, err := strconv.ParseInt(f[0], 10, 32)
	class, err2 := strconv.ParseUint(f[1], 10, 8)
	r.number, r.class, r.text = int32(n), uint8(class), f[2]
	return r, errors.Join(err, err2)
}

// marked puts in what an editor does not show.
var marked = strings.NewReplacer("<CR>", "\r", "<LF>", "\n", "<TAB>", "\t", "<BOM>", "\ufeff", "<NUL>", "\x00")

// words splits a command line as the shells do with double quotes, which is how people
// publish them.
func words(line string) []string {
	var out []string
	var cur strings.Builder
	in, have := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"' && in && i+1 < len(line) && line[i+1] == '"':
			cur.WriteByte('"')
			i++
		case c == '"':
			in, have = !in, true
		case (c == ' ' || c == '\n') && !in:
			if have {
				out = append(out, cur.String())
				cur.Reset()
				have = false
			}
		default:
			cur.WriteByte(c)
			have = true
		}
	}
	if have {
		out = append(out, cur.String())
	}
	return out
}

// redirect points a value of -S at the recorder, and keeps its form.
func redirect(server string, port int) string {
	proto := ""
	if p, rest, ok := strings.Cut(server, ":"); ok && (p == "tcp" || p == "lpc") {
		proto, server = p+":", rest
	}
	host, _, _ := strings.Cut(server, ",")
	_, instance, _ := strings.Cut(host, `\`)
	if instance != "" {
		instance = `\` + instance
	}
	return fmt.Sprintf("%s127.0.0.1%s,%d", proto, instance, port)
}

// argv is the command line with the recorder's address in it.
func (c *corpusCase) argv(t *testing.T, port int) []string {
	args := words(marked.Replace(c.command))
	given := ""
	at := -1
	for i, a := range args[1:] {
		switch {
		case a == "-S" || a == "--server" || a == "\u2013S":
			at, given = i+2, args[min(i+2, len(args)-1)]
		case strings.HasPrefix(a, "-S"), strings.HasPrefix(a, "\u2013S"), strings.HasPrefix(a, "--server="):
			at = i + 1
			given = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(a, "-S"), "\u2013S"), "--server=")
		}
	}
	if c.address != "" {
		s, err := target.ParseServer(given)
		if err != nil || s.String() != c.address {
			t.Errorf("-S%s is %s, %v; want %s", given, s, err, c.address)
		}
	}
	if c.login == nil && !c.dead && c.rec.refuse == nil {
		return args // nothing may be sent
	}
	if at < 0 {
		return append(args, "-S"+redirect("", port))
	}
	if at+1 < len(args) && strings.HasPrefix(args[at+1], ".") { // PowerShell cut it
		args[at+1] = ".0.0.1," + fmt.Sprint(port)
		return args
	}
	args[at] = strings.TrimSuffix(args[at], given) + redirect(given, port)
	return args
}

func (c *corpusCase) run(t *testing.T) {
	trusted := c.login != nil && c.login["user"] == "trusted"
	if trusted && runtime.GOOS == "windows" {
		t.Skip("SSPI does not take the recorder's challenge")
	}
	dir := t.TempDir()
	for _, f := range c.files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.bytes(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c.rec.password = corpusPassword
	port, err := c.rec.start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.rec.wg.Wait()
	defer cancel()
	if c.dead {
		_ = c.rec.ln.Close()
	}
	args := c.argv(t, port)
	stdout, stderr, code := c.program(ctx, t, dir, args)
	if c.twice {
		c.rec.mu.Lock()
		c.rec.conns = nil
		c.rec.mu.Unlock()
		stdout, stderr, code = c.program(ctx, t, dir, args)
	}
	c.rec.mu.Lock()
	conns := slices.Clone(c.rec.conns)
	c.rec.mu.Unlock()

	if runtime.GOOS == "windows" && code == int(uint32(1<<32+exitUsage)) {
		code = 250 // what Unix makes of it
	}
	if code != c.exit {
		t.Errorf("exit status %d, want %d", code, c.exit)
	}
	c.checkLogins(t, conns)
	if c.logins > 0 && len(conns) != c.logins {
		t.Errorf("%d connections, want %d", len(conns), c.logins)
	}
	if d := cmp.Diff(c.wire, transcript(conns)); d != "" && c.logins == 0 {
		t.Errorf("requests (-want +got):\n%s", d)
	}
	log, logDir := c.logFile(dir, args)
	for what, text := range map[string]string{"console": stdout + stderr, "ostress.log": log} {
		if strings.Contains(text, corpusPassword) {
			t.Errorf("the password is on the %s", what)
		}
	}
	for _, re := range c.print {
		if !re.MatchString(stdout) {
			t.Errorf("the console has nothing like %s", re)
		}
	}
	for _, re := range c.never {
		if re.MatchString(stdout) {
			t.Errorf("the console has %s", re)
		}
	}
	for _, re := range c.log {
		if !re.MatchString(log) {
			t.Errorf("ostress.log has nothing like %s:\n%s", re, log)
		}
	}
	if c.exit == 0 && (c.wire != "" || c.logins > 0) {
		c.checkLines(t, args, stdout, log, len(conns))
	}
	c.checkFiles(t, logDir)
	if t.Failed() {
		t.Logf("%q\n%s%s", args, stdout, stderr)
	}
}

func (f corpusFile) bytes(t *testing.T) []byte {
	switch f.encoding {
	case "":
		return []byte(f.text)
	case "UTF-8 with BOM":
		return []byte("\ufeff" + f.text)
	case "UTF-16LE":
		return append([]byte{0xFF, 0xFE}, tds.AppendUTF16(nil, f.text)...)
	case "code page 1251":
		s, err := charmap.Windows1251.NewEncoder().String(f.text)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(s)
	case "code page 1252":
		s, err := charmap.Windows1252.NewEncoder().String(f.text)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(s)
	case "10 MB":
		return []byte(strings.ReplaceAll(f.text, "<LONG>", strings.Repeat("x", 10<<20)))
	}
	t.Fatalf("unknown encoding %q", f.encoding)
	return nil
}

// program runs main in a process of its own, under the name that the command line has.
func (c *corpusCase) program(ctx context.Context, t *testing.T, dir string, args []string) (stdout, stderr string, code int) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = args
	cmd.Dir = dir
	tmp := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, kv := range os.Environ() {
		if k, _, _ := strings.Cut(kv, "="); k != "SQLCMDPASSWORD" && !strings.HasPrefix(k, "GOSTRESS") && k != "ODBCINI" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, asProgram+"=1", "HOME="+dir, "TMPDIR="+tmp, "TEMP="+tmp, "TMP="+tmp, "KRB5CCNAME=FILE:"+dir+"/no-ticket", "KRB5_CLIENT_KTNAME="+dir+"/no-keytab")
	for _, kv := range c.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(kv, "$DIR", dir))
	}
	if c.typed != "" {
		keyboard, tty, err := openTerminal()
		if err != nil {
			t.Skip("no terminal:", err)
		}
		defer keyboard.Close()
		defer tty.Close()
		cmd.Stdin = tty
		if _, err := keyboard.WriteString(c.typed + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) || ctx.Err() != nil {
		t.Fatalf("%q: %v, %v\n%s", args, err, ctx.Err(), out.String())
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

var encryptions = map[tds.Encryption]string{tds.EncryptOff: "login", tds.EncryptOn: "on", tds.EncryptNotSupported: "none", tds.EncryptRequired: "required"}

// checkLogins holds every connection to what the case says of it.
func (c *corpusCase) checkLogins(t *testing.T, conns []*recorded) {
	for _, r := range conns {
		if c.login == nil {
			t.Errorf("somebody connected")
			return
		}
		if r.login == nil {
			continue // it broke before
		}
		name := r.login.UserName
		if r.login.Flags2&tds.OptionSecurity != 0 {
			name = "trusted"
			if u, err := user.Current(); err == nil && !strings.EqualFold(r.sspiUser, u.Username) {
				t.Errorf("the trusted login is %q's, want %q", r.sspiUser, u.Username)
			}
		} else if r.badLogin {
			t.Errorf("the password is not the one given")
		}
		app := r.login.AppName
		if strings.HasPrefix(app, "gostress/") && strings.HasPrefix(c.login["app"], "gostress/") {
			app = "gostress/*"
		}
		intent := "readwrite"
		if r.login.TypeFlags&tds.TypeReadOnlyIntent != 0 {
			intent = "readonly"
		}
		got := map[string]string{
			"user": name, "db": r.login.Database, "app": app, "language": r.login.Language, "packet": fmt.Sprint(r.login.PacketSize),
			"encrypt": encryptions[r.pre.Encryption], "instance": r.pre.Instance, "intent": intent,
		}
		if d := cmp.Diff(c.login, got); d != "" {
			t.Errorf("login (-want +got):\n%s", d)
			return
		}
	}
}

// transcript shows what the connections sent: equal ones once, with their number, and equal
// requests in a row once, with theirs.
func transcript(conns []*recorded) string {
	count := map[string]int{}
	for _, r := range conns {
		var sb strings.Builder
		for i := 0; i < len(r.requests); {
			n := 1
			for i+n < len(r.requests) && r.requests[i+n] == r.requests[i] {
				n++
			}
			s := strings.NewReplacer("\r", "<CR>", "\n", "<LF>", "\t", "<TAB>").Replace(r.requests[i])
			if len(s) > 2000 {
				s = fmt.Sprintf("%s... (%d bytes)", s[:20], len(s))
			}
			fmt.Fprintf(&sb, "  %d %s\n", n, s)
			i += n
		}
		count[sb.String()]++
	}
	var out []string
	for s, n := range count {
		out = append(out, fmt.Sprintf("%d connections\n%s", n, s))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// logFile is the text of ostress.log, and the directory it is in.
func (c *corpusCase) logFile(dir string, args []string) (text, in string) {
	candidates := []string{filepath.Join(dir, "tmp", "output")}
	for i, a := range args {
		if o, ok := strings.CutPrefix(a, "-o"); ok && o != "" {
			candidates = []string{filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(o, `\`, "/")))}
		} else if ok && i+1 < len(args) {
			candidates = []string{filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(args[i+1], `\`, "/")))}
		}
	}
	if found, err := filepath.Glob(filepath.Join(dir, "gostress-out", "*")); err == nil {
		candidates = append(candidates, found...)
	}
	for _, d := range candidates {
		if b, err := os.ReadFile(filepath.Join(d, ostress.LogName)); err == nil {
			return string(b), d
		}
	}
	return "", ""
}

// The lines of a run, in their order (ostress's published logs).
var lineOrder = []struct {
	re   *regexp.Regexp
	must bool
}{
	{regexp.MustCompile(`^Max threads setting: \d+$`), true},
	{regexp.MustCompile(`^Arguments:$`), true},
	{regexp.MustCompile(`^Using language id \(LCID\): \d+ \[.*\] for character formatting with NLS: .* and Defined: .*$`), true},
	{regexp.MustCompile(`^Default driver: .+$`), true},
	{regexp.MustCompile(`^Attempting DOD5015 removal of \[.+\]$`), false},
	{regexp.MustCompile(`^Starting query execution\.\.\.$`), true},
	{regexp.MustCompile(`^Creating (\d+) thread\(s\) to process queries$`), true},
	{regexp.MustCompile(`^PROGRESS: Creating thread \d+$`), false},
	{regexp.MustCompile(`^Worker threads created, beginning execution\.\.\.$`), true},
	{regexp.MustCompile(`^Total IO waits: \d+, Total IO wait time: \d+ \(ms\)$`), true},
	{regexp.MustCompile(`^OSTRESS exiting normally, elapsed time: \d\d:\d\d:\d\d\.\d{3}$`), false},
}

var (
	linePrefix = regexp.MustCompile(`^\d\d/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3} \[0x[0-9A-F]{8}\] (.*)$`)
	anyPlace   = regexp.MustCompile(`^(SQLState: \w{5}, Native Error: -?\d+(, Severity: \d+, State: \d+, Line: \d+)?|Attempt to establish connection failed\.  See the detailed errors that follow:|The connection was lost; .*|The connection was opened again|WARNING: .*|ERROR: .*)$`)
	verbose    = regexp.MustCompile(`^Connected: .*$`)
	ownLine    = regexp.MustCompile(`^(NOTE: .*|Sessions of this run: .*)$`)
)

// checkLines holds the console, and the log, to ostress's lines: all of them, in order,
// and under ostress's name no others.
func (c *corpusCase) checkLines(t *testing.T, args []string, stdout, log string, connections int) {
	quietly := ostress.MannersOf(args[0]) == ostress.AsOstress
	shown := ostress.Redact(args[1:])
	noExit, loud := false, false
	for _, a := range args[1:] {
		noExit = noExit || a == "-N" || a == "--no-exit-line"
		loud = loud || strings.HasPrefix(a, "-v")
	}
	threads := c.threads
	if threads == 0 {
		threads = connections
	}
	for what, text := range map[string]string{"console": stdout, "ostress.log": log} {
		place := 0
		seen := make([]int, len(lineOrder))
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
		last := ""
		var first, ended time.Time // by the lines' own clock
		for i, line := range lines {
			m := linePrefix.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			last = m[1]
			at, err := time.Parse("01/02/06 15:04:05.000", line[:21])
			if err != nil {
				t.Errorf("%s: %q: %v", what, line, err)
			}
			if first.IsZero() {
				first = at
			}
			if lineOrder[9].re.MatchString(last) {
				ended = at
			}
			k := slices.IndexFunc(lineOrder, func(l struct {
				re   *regexp.Regexp
				must bool
			}) bool {
				return l.re.MatchString(m[1])
			})
			switch {
			case k < 0 && anyPlace.MatchString(m[1]):
			case k < 0 && loud && verbose.MatchString(m[1]):
			case k < 0 && ownLine.MatchString(m[1]) && (!quietly || what != "console"):
			case k < 0:
				t.Errorf("%s: %q is no line of ostress's", what, line)
			case k < place:
				t.Errorf("%s: %q comes too late", what, line)
			default:
				place = k
				seen[k]++
			}
			if m[1] == "Arguments:" {
				var want []string
				for _, a := range shown {
					want = append(want, strings.Split(strings.ReplaceAll(strings.ReplaceAll(a, "\r\n", "\n"), "\r", "\n"), "\n")...)
				}
				var got []string
				for j := i + 1; j < len(lines) && linePrefix.FindString(lines[j]) == ""; j++ {
					got = append(got, strings.Split(lines[j], "\r")...)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: argument lines (-want +got):\n%s", what, d)
				}
			}
			if n := lineOrder[6].re.FindStringSubmatch(m[1]); n != nil && n[1] != fmt.Sprint(threads) {
				t.Errorf("%s: %q, want %d threads", what, line, threads)
			}
		}
		for k, l := range lineOrder {
			if l.must && seen[k] != 1 {
				t.Errorf("%s: %d lines match %s", what, seen[k], l.re)
			}
		}
		if exits := strings.HasPrefix(last, "OSTRESS exiting normally, elapsed time: "); exits == noExit {
			t.Errorf("%s: the last line is %q", what, last)
		}
		if !noExit && exitElapsed(last) < ended.Sub(first)-2*time.Millisecond {
			t.Errorf("%s: %q leaves out a part of the %s from the first line on", what, last, ended.Sub(first))
		}
		want := 0
		if threads > 100 {
			want = threads / 100
		}
		if seen[7] != want {
			t.Errorf("%s: %d lines of progress, want %d", what, seen[7], want)
		}
	}
}

// exitElapsed is the time that ostress's last line tells.
func exitElapsed(line string) time.Duration {
	var h, m, s, ms time.Duration
	if _, err := fmt.Sscanf(line, "OSTRESS exiting normally, elapsed time: %d:%d:%d.%d", &h, &m, &s, &ms); err != nil {
		return -1
	}
	return h*time.Hour + m*time.Minute + s*time.Second + ms*time.Millisecond
}

// checkFiles looks at the result files.
func (c *corpusCase) checkFiles(t *testing.T, dir string) {
	if c.out == nil && len(c.holds) == 0 {
		return
	}
	if dir == "" {
		t.Error("there is no result directory")
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".out" && ext != ".xml" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		name := e.Name()
		if bytes.Equal(b, []byte{0xFF, 0xFE}) {
			name += "=empty"
		}
		got = append(got, name)
		text, enc, err := script.Decode(b)
		if err != nil || enc != script.UTF16LE && filepath.Ext(e.Name()) == ".out" {
			t.Errorf("%s is %s, %v", name, enc, err)
		}
		want, ok := c.holds[e.Name()]
		if ok && !strings.Contains(text, want) {
			t.Errorf("%s has no %q:\n%s", name, want, text)
		}
	}
	for name := range c.holds {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.TrimSuffix(g, "=empty") == name }) {
			t.Errorf("%s is not there, but %q", name, got)
		}
	}
	if c.out != nil {
		want := slices.Clone(c.out)
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("result files (-want +got):\n%s", d)
		}
	}
}
