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

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"gostress/pkg/script"
)

// mostYAML bounds a scenario file, before it is parsed.
const mostYAML = 16 << 20

// mixFile is a scenario as it stands in its file. Every key of target, load, params and output is a
// switch of the command line, by the name in its tag.
type mixFile struct {
	Name   string `yaml:"name"`
	Target struct {
		Server     *string `yaml:"server" switch:"server"`
		DataSource *string `yaml:"data_source" switch:"data-source"`
		Database   *string `yaml:"database" switch:"database"`
		User       *string `yaml:"user" switch:"user"`
		Encrypt    *string `yaml:"encrypt" switch:"encrypt"`
		Session    *string `yaml:"session" switch:"session"`
		Language   *string `yaml:"language" switch:"language"`
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
		MaxErrors      *string `yaml:"max_errors" switch:"max-errors"`
		Think          *string `yaml:"think" switch:"think"`
		Retries        *string `yaml:"retries" switch:"retries"`
		QueryTimeout   *string `yaml:"query_timeout" switch:"query-timeout"`
		Seed           *string `yaml:"seed" switch:"seed"`
	} `yaml:"load"`
	Params struct {
		File     *string  `yaml:"file" switch:"params"`
		Query    *string  `yaml:"query" switch:"param-query"`
		Server   *string  `yaml:"server" switch:"param-server"`
		Database *string  `yaml:"database" switch:"param-database"`
		Order    *string  `yaml:"order" switch:"param-order"`
		Types    *string  `yaml:"types" switch:"param-types"`
		Vars     []string `yaml:"vars" switch:"var"`
	} `yaml:"params"`
	Setup      mixHooks       `yaml:"setup"`
	Teardown   mixHooks       `yaml:"teardown"`
	Statements []mixStatement `yaml:"statements"`
	Thresholds []string       `yaml:"thresholds" switch:"threshold"`
	AbortOn    []string       `yaml:"abort_on" switch:"abort-on"`
	Output     struct {
		Directory  *string `yaml:"directory" switch:"output"`
		JSON       *string `yaml:"json" switch:"json"`
		CSV        *string `yaml:"csv" switch:"csv"`
		HGRM       *string `yaml:"hgrm" switch:"hgrm"`
		HLOG       *string `yaml:"hlog" switch:"hlog"`
		JUnit      *string `yaml:"junit" switch:"junit"`
		Prometheus *string `yaml:"prometheus" switch:"prometheus"`
	} `yaml:"output"`
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
	// Own gives it connections of its own, as many as load says; else it shares those of the others.
	Own      bool   `yaml:"own_connections"`
	SQL      string `yaml:"sql"`
	File     string `yaml:"file"`
	Workload string `yaml:"workload"`
	Mode     string `yaml:"mode"`
}

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
			e.Text = ye.GetMessage()
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
	if l.file, err = parser.ParseBytes([]byte(text), 0); err != nil {
		return fail(err)
	}
	// An alias can stand for more than the file has room for, and a scenario has no use for one.
	if len(l.file.Docs) != 1 || l.file.Docs[0].Body == nil {
		return mixFile{}, l, &script.Error{Path: path, Text: "a scenario is one YAML document, and this has none or several"}
	}
	var alias ast.Node
	for _, doc := range l.file.Docs {
		ast.Walk(finder(func(n ast.Node) {
			if n.Type() == ast.AliasType || n.Type() == ast.AnchorType || n.Type() == ast.MergeKeyType {
				alias = n
			}
		}), doc)
	}
	if alias != nil {
		pos := alias.GetToken().Position
		return mixFile{}, l, &script.Error{Path: path, Line: pos.Line, Col: pos.Column, Text: "anchors and aliases are not supported in a scenario"}
	}
	if line, col := l.position("$.target.password"); line > 0 {
		return mixFile{}, l, &script.Error{Path: path, Line: line, Col: col, Text: "a password does not belong in a file: give it by SQLCMDPASSWORD, or with -P"}
	}
	if err := yaml.NewDecoder(strings.NewReader(text), yaml.DisallowUnknownField()).Decode(&m); err != nil {
		return fail(err)
	}
	return m, l, nil
}

// finder is an ast.Visitor that goes everywhere.
type finder func(ast.Node)

func (f finder) Visit(n ast.Node) ast.Visitor {
	f(n)
	return f
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

// switches are what the file says as switches of the command line, in their long form.
func (m *mixFile) switches() []string {
	var out []string
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		t := v.Type()
		for i := range t.NumField() {
			field := v.Field(i)
			name := t.Field(i).Tag.Get("switch")
			switch {
			case name == "" && field.Kind() == reflect.Struct:
				look(field)
			case name == "":
			case field.Kind() == reflect.Slice:
				for j := range field.Len() {
					out = append(out, "--"+name+"="+field.Index(j).String())
				}
			case !field.IsNil():
				out = append(out, "--"+name+"="+field.Elem().String())
			}
		}
	}
	look(reflect.ValueOf(*m))
	return out
}

// check finds what the structure alone does not.
func (m *mixFile) check(l located) error {
	if len(m.Statements) == 0 {
		return l.at("$", "there are no statements")
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
		case s.Own && s.Weight > 0:
			return l.at(where+".weight", "a statement with connections of its own takes no turns with others, so it has no weight")
		}
		names[s.Name] = true
		if line, _ := l.position(where + ".weight"); line > 0 && s.Weight == 0 {
			return l.at(where+".weight", "a weight is a number above zero; leave the statement out instead")
		}
		if s.Weight == 0 {
			s.Weight = 1
		}
		if s.File != "" && !filepath.IsAbs(s.File) {
			s.File = filepath.Join(filepath.Dir(l.path), s.File)
		}
	}
	return nil
}
