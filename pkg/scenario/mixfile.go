package scenario

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"gostress/pkg/script"
)

// What bounds a scenario file: its bytes before it is parsed, how deep its values nest, the entries of
// a list, and all values and signs. The parser needs memory by the square of the depth.
const (
	mostYAML  = 1 << 20
	deepest   = 32
	farthest  = 200 // column of a key or entry, so that blocks do not nest deeper
	mostItems = 1000

	mostTokens = 100_000
)

// mixFile is a scenario as it stands in its file. A key with the tag switch is that switch of the
// command line; one with the tag path is a file, looked for beside the scenario.
type mixFile struct {
	Name   string `yaml:"name"`
	Target struct {
		Server                 *string `yaml:"server" switch:"server"`
		DataSource             *string `yaml:"data_source" switch:"data-source"`
		Integrated             *bool   `yaml:"integrated" switch:"integrated"`
		User                   *string `yaml:"user" switch:"user"`
		Database               *string `yaml:"database" switch:"database"`
		LoginTimeout           *string `yaml:"login_timeout" switch:"login-timeout"`
		PacketSize             *string `yaml:"packet_size" switch:"packet-size"`
		Encrypt                *string `yaml:"encrypt" switch:"encrypt"`
		TrustServerCertificate *bool   `yaml:"trust_server_certificate" switch:"trust-server-certificate"`
		CAFile                 *string `yaml:"ca_file" switch:"ca-file" path:"input"`
		HostNameInCertificate  *string `yaml:"host_name_in_certificate" switch:"host-name-in-certificate"`
		TLSMin                 *string `yaml:"tls_min" switch:"tls-min"`
		AllowCleartextLogin    *bool   `yaml:"allow_cleartext_login" switch:"allow-cleartext-login"`
		Wire                   *string `yaml:"wire" switch:"wire"`
		Session                *string `yaml:"session" switch:"session"`
		Language               *string `yaml:"language" switch:"language"`
		AppName                *string `yaml:"app_name" switch:"app-name"`
		ApplicationIntent      *string `yaml:"application_intent" switch:"application-intent"`
		ServerSPN              *string `yaml:"server_spn" switch:"server-spn"`
		ExtendedProtection     *bool   `yaml:"extended_protection" switch:"extended-protection"`
		MultiSubnetFailover    *bool   `yaml:"multi_subnet_failover" switch:"multi-subnet-failover"`
		ConnectConcurrency     *string `yaml:"connect_concurrency" switch:"connect-concurrency"`
		Reconnect              *string `yaml:"reconnect" switch:"reconnect"`
		ControlFile            *string `yaml:"control_file" switch:"control-file" path:"input"`
	} `yaml:"target"`
	Load struct {
		Connections    *string `yaml:"connections" switch:"connections"`
		Iterations     *string `yaml:"iterations" switch:"iterations"`
		Duration       *string `yaml:"duration" switch:"duration"`
		Warmup         *string `yaml:"warmup" switch:"warmup"`
		RampUp         *string `yaml:"ramp_up" switch:"ramp-up"`
		Cooldown       *string `yaml:"cooldown" switch:"cooldown"`
		Stages         *string `yaml:"stages" switch:"stages"`
		Rate           *string `yaml:"rate" switch:"rate"`
		Arrivals       *string `yaml:"arrivals" switch:"arrivals"`
		Late           *string `yaml:"late" switch:"late"`
		MaxConnections *string `yaml:"max_connections" switch:"max-connections"`
		MaxThreads     *string `yaml:"max_threads" switch:"max-threads"`
		MaxErrors      *string `yaml:"max_errors" switch:"max-errors"`
		StopOnError    *bool   `yaml:"stop_on_error" switch:"stop-on-error"`
		Think          *string `yaml:"think" switch:"think"`
		Retries        *string `yaml:"retries" switch:"retries"`
		RetryInDoubt   *bool   `yaml:"retry_in_doubt" switch:"retry-in-doubt"`
		QueryTimeout   *string `yaml:"query_timeout" switch:"query-timeout"`
		Seed           *string `yaml:"seed" switch:"seed"`
		Repeat         *string `yaml:"repeat" switch:"repeat"`
		ResetQuery     *string `yaml:"reset_query" switch:"reset-query"`
	} `yaml:"load"`
	Params     mixParams      `yaml:"params"`
	SqlcmdVars []string       `yaml:"sqlcmd_vars" switch:"sqlcmd-vars"`
	Setup      mixHooks       `yaml:"setup"`
	Teardown   mixHooks       `yaml:"teardown"`
	Statements []mixStatement `yaml:"statements"`
	Thresholds []string       `yaml:"thresholds" switch:"threshold"`
	AbortOn    []string       `yaml:"abort_on" switch:"abort-on"`
	AbortGrace *string        `yaml:"abort_grace" switch:"abort-grace"`
	Output     struct {
		Directory  *string `yaml:"directory" switch:"output"`
		Quiet      *bool   `yaml:"quiet" switch:"quiet"`
		Verbose    *bool   `yaml:"verbose" switch:"verbose"`
		Format     *string `yaml:"format" switch:"result-format"`
		LCID       *string `yaml:"lcid" switch:"lcid"`
		JSON       *string `yaml:"json" switch:"json"`
		CSV        *string `yaml:"csv" switch:"csv"`
		HGRM       *string `yaml:"hgrm" switch:"hgrm"`
		HLOG       *string `yaml:"hlog" switch:"hlog"`
		JUnit      *string `yaml:"junit" switch:"junit"`
		Prometheus *string `yaml:"prometheus" switch:"prometheus"`
		Progress   *string `yaml:"progress" switch:"progress"`
	} `yaml:"output"`
}

// mixParams are values for the @names, of all statements or of one.
type mixParams struct {
	File     *string  `yaml:"file" switch:"params" path:"input"`
	Query    *string  `yaml:"query" switch:"param-query"`
	Server   *string  `yaml:"server" switch:"param-server"`
	Database *string  `yaml:"database" switch:"param-database"`
	Order    *string  `yaml:"order" switch:"param-order"`
	Types    *string  `yaml:"types" switch:"param-types"`
	Vars     []string `yaml:"vars" switch:"var"`
	Inline   *bool    `yaml:"inline" switch:"inline"`
}

// mixHooks are batches around the load.
type mixHooks struct {
	Once       []string `yaml:"once"`
	Connection []string `yaml:"connection"`
	Iteration  []string `yaml:"iteration"`
}

// mixStatement is one of the things that the connections run.
type mixStatement struct {
	Name   string  `yaml:"name"`
	Weight float64 `yaml:"weight"`
	// Own gives it connections of its own, as many as load says, and Connections so many; else it
	// shares those of the others.
	Own         bool    `yaml:"own_connections"`
	Connections float64 `yaml:"connections"`
	SQL         string  `yaml:"sql"`
	File        string  `yaml:"file"`
	Workload    string  `yaml:"workload"`
	Mode        string  `yaml:"mode"`
	// Params are in place of the file's.
	Params mixParams `yaml:"params"`
}

// Switch is a value of the file as a switch of the command line, and where it stands.
type Switch struct {
	Name, Value string
	Line, Col   int
}

// String is the switch with its value.
func (s Switch) String() string { return "--" + s.Name + "=" + s.Value }

// located finds where things stand in the file, for errors.
type located struct {
	path string
	file *ast.File
}

// at is an error at a path such as $.statements[0].sql.
func (l located) at(path, format string, args ...any) error {
	e := &script.Error{Path: l.path, Text: fmt.Sprintf(format, args...)}
	e.Line, e.Col = l.position(path)
	return e
}

// position is the line and column of a value, zeros when it is not there.
func (l located) position(path string) (line, col int) {
	p, err := yaml.PathString(path)
	if err != nil {
		return 0, 0
	}
	node, err := p.FilterFile(l.file)
	if err != nil || node == nil {
		return 0, 0
	}
	pos := node.GetToken().Position
	return pos.Line, pos.Column
}

// textLine is the line on which a text begins: of a block scalar, the one behind its sign.
func (l located) textLine(path string) int {
	p, err := yaml.PathString(path)
	if err != nil {
		return 1
	}
	node, err := p.FilterFile(l.file)
	if err != nil || node == nil {
		return 1
	}
	if _, block := node.(*ast.LiteralNode); block {
		return node.GetToken().Position.Line + 1
	}
	return node.GetToken().Position.Line
}

// readMix reads the file's structure.
func readMix(path string, content []byte) (m mixFile, l located, err error) {
	l = located{path: path}
	defer func() {
		// The parser trusts its input further than a file of unknown origin allows.
		if p := recover(); p != nil {
			m, err = mixFile{}, &script.Error{Path: path, Text: fmt.Sprintf("it cannot be read as YAML: %v", p)}
		}
	}()
	fail := func(err error) (mixFile, located, error) {
		e := &script.Error{Path: path, Text: err.Error()}
		var ye yaml.Error
		if errors.As(err, &ye) {
			e.Text = wrongWith(ye)
			if tok := ye.GetToken(); tok != nil && tok.Position != nil {
				e.Line, e.Col = tok.Position.Line, tok.Position.Column
			}
		}
		return mixFile{}, l, e
	}
	text, _, err := script.Decode(content)
	if err != nil {
		var se *script.Error
		if errors.As(err, &se) {
			se.Path = path
		}
		return mixFile{}, l, err
	}
	if tok, why := beyond(text); tok != nil {
		return mixFile{}, l, &script.Error{Path: path, Line: tok.Position.Line, Col: tok.Position.Column, Text: why}
	}
	if l.file, err = parser.ParseBytes([]byte(text), 0); err != nil {
		return fail(err)
	}
	if len(l.file.Docs) != 1 || l.file.Docs[0].Body == nil {
		return mixFile{}, l, &script.Error{Path: path, Text: "a scenario is one YAML document, and this has none or several"}
	}
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.DisallowUnknownField()).Decode(&m); err != nil {
		return fail(err)
	}
	return m, l, nil
}

// beyond is the first part of a text that is more than a scenario has, and why; nil when there is none.
// It comes before the parser, which trusts its input further than a file of unknown origin allows.
func beyond(text string) (tok *token.Token, why string) {
	depth := 0
	for i, tok := range lexer.Tokenize(text) {
		if i == mostTokens {
			return tok, fmt.Sprintf("there are more than %d values and signs before this, more than a scenario has", mostTokens)
		}
		switch tok.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return tok, "anchors and aliases are not supported in a scenario"
		case token.TagType, token.DirectiveType:
			return tok, "tags and directives are not supported in a scenario"
		}
		block := tok.Type == token.SequenceEntryType || tok.Type == token.MappingKeyType || tok.Type == token.MappingValueType
		if depth > deepest || block && depth == 0 && tok.Position.Column > farthest {
			return tok, "the values nest deeper than those of a scenario do"
		}
	}
	return nil, ""
}

// wrongWith says what the parser found in words for who wrote the file. It shows no value.
func wrongWith(err yaml.Error) string {
	var unknown *yaml.UnknownFieldError
	var typed *yaml.TypeError
	switch {
	case errors.As(err, &unknown):
		name := strings.ToLower(unknown.GetMessage())
		if strings.Contains(name, "password") || strings.Contains(name, "pwd") {
			return "a password does not belong in a file: give it by SQLCMDPASSWORD, or with -P"
		}
	case errors.As(err, &typed):
		want := typed.DstType
		for want.Kind() == reflect.Pointer {
			want = want.Elem()
		}
		switch want.Kind() {
		case reflect.String:
			return "this must be one value, text or a number"
		case reflect.Float64:
			return "this must be a number"
		case reflect.Bool:
			return "this must be true or false"
		case reflect.Slice:
			return "this must be a list"
		case reflect.Struct:
			return "this must be keys with values"
		}
	}
	return err.GetMessage()
}

// named checks a name, which stands in reports and names files.
func (l located) named(path, name string) error {
	if utf8.RuneCountInString(name) > 128 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return l.at(path, "a name has at most 128 characters, on one line")
	}
	return nil
}

// readFile reads a scenario's bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > mostYAML {
		return nil, &script.Error{Path: path, Text: fmt.Sprintf("it has %d bytes, and a scenario has at most %d", info.Size(), mostYAML)}
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, &script.Error{Path: path, Text: fmt.Sprintf("it cannot be read: %v", err), Err: err}
	}
	return content, nil
}

// switches are what a part of the file says as switches, v being the part at path.
func (l located) switches(v reflect.Value, path string) []Switch {
	var out []Switch
	add := func(name, value, path string) {
		s := Switch{Name: name, Value: value}
		s.Line, s.Col = l.position(path)
		out = append(out, s)
	}
	t := v.Type()
	for i := range t.NumField() {
		field, tag := v.Field(i), t.Field(i).Tag
		name, at := tag.Get("switch"), path+"."+tag.Get("yaml")
		switch {
		case name == "" && field.Kind() == reflect.Struct:
			out = append(out, l.switches(field, at)...)
		case name == "":
		case field.Kind() == reflect.Slice:
			for j := range field.Len() {
				add(name, field.Index(j).String(), fmt.Sprintf("%s[%d]", at, j))
			}
		case field.IsNil():
		case field.Elem().Kind() == reflect.Bool:
			add(name, strconv.FormatBool(field.Elem().Bool()), at)
		default:
			value := field.Elem().String()
			if tag.Get("path") != "" {
				value = l.beside(value)
			}
			add(name, value, at)
		}
	}
	return out
}

// beside is a file named in the scenario.
func (l located) beside(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(l.path), path)
}

// check finds what the structure alone does not.
func (m *mixFile) check(l located) error {
	if len(m.Statements) == 0 {
		return l.at("$", "there are no statements")
	}
	for name, n := range map[string]int{
		"statements": len(m.Statements), "thresholds": len(m.Thresholds), "abort_on": len(m.AbortOn), "params.vars": len(m.Params.Vars), "sqlcmd_vars": len(m.SqlcmdVars),
	} {
		if n > mostItems {
			return l.at("$."+name, "there are %d %s, and a scenario has at most %d", n, name, mostItems)
		}
	}
	if err := l.named("$.name", m.Name); err != nil {
		return err
	}
	names := map[string]bool{}
	for i := range m.Statements {
		s := &m.Statements[i]
		where := fmt.Sprintf("$.statements[%d]", i)
		if s.Name == "" {
			s.Name = strconv.Itoa(i + 1)
		}
		given := 0
		for _, v := range []string{s.SQL, s.File, s.Workload} {
			if v != "" {
				given++
			}
		}
		switch {
		case names[s.Name]:
			return l.at(where, "the name %q is there twice", s.Name)
		case given == 0:
			return l.at(where, "statement %s has nothing to run: give sql, file or workload", s.Name)
		case given > 1:
			return l.at(where, "statement %s has more than one of sql, file and workload", s.Name)
		case s.Mode != "" && s.Workload == "":
			return l.at(where+".mode", "a mode is for a workload")
		case s.Mode != "" && !slices.Contains(Modes(), Mode(s.Mode)):
			return l.at(where+".mode", "%q is no mode: there are batch and tvp", s.Mode)
		case s.Weight < 0 || math.IsNaN(s.Weight) || math.IsInf(s.Weight, 0):
			return l.at(where+".weight", "a weight is a number above zero")
		case s.Connections < 0 || s.Connections > 1<<20 || s.Connections != math.Trunc(s.Connections):
			return l.at(where+".connections", "a number of connections is a whole number from 1")
		case s.Own && s.Connections > 0:
			return l.at(where+".connections", "own_connections: true gives statement %s as many as the load says: leave one of the two out", s.Name)
		case len(s.Params.Vars) > mostItems:
			return l.at(where+".params.vars", "there are %d vars, and a statement has at most %d", len(s.Params.Vars), mostItems)
		case s.Workload != "" && !reflect.ValueOf(s.Params).IsZero():
			return l.at(where+".params", "a workload makes its own parameters")
		case (s.Own || s.Connections > 0) && s.Weight > 0:
			return l.at(where+".weight", "a statement with connections of its own takes no turns with others, so it has no weight")
		}
		if err := l.named(where+".name", s.Name); err != nil {
			return err
		}
		names[s.Name] = true
		if line, _ := l.position(where + ".connections"); line > 0 && s.Connections == 0 {
			return l.at(where+".connections", "a number of connections is a whole number from 1")
		}
		s.Own = s.Own || s.Connections > 0
		if line, _ := l.position(where + ".weight"); line > 0 && s.Weight == 0 {
			return l.at(where+".weight", "a weight is a number above zero; leave the statement out instead")
		}
		if s.Weight == 0 {
			s.Weight = 1
		}
		s.File = l.beside(s.File)
	}
	return nil
}
