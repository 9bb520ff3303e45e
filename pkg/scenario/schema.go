package scenario

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Schema is the JSON schema of a scenario file, draft 2020-12, for editors. It is made of the
// structure that the file is read into.
func Schema() []byte {
	s := schemaOf(reflect.TypeOf(mixFile{}), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "A scenario of gostress"
	s["required"] = []string{"statements"}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // maps of strings
	}
	return append(out, '\n')
}

// MixSwitches are the switches of the command line that a scenario has keys for.
func MixSwitches() []string {
	var out []string
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			if name := f.Tag.Get("switch"); name != "" {
				out = append(out, name)
			} else if f.Type.Kind() == reflect.Struct {
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[mixFile]())
	return out
}

// enums are the words that a key takes.
func enums() map[string][]string {
	return map[string][]string{
		"target.session": {"odbc", "ssms"}, "target.encrypt": {"mandatory", "optional", "strict", "disable"},
		"load.arrivals": {"constant", "poisson"}, "load.late": {"queue", "skip"},
		"target.wire": {"auto", "tds", "go-mssqldb"}, "target.application_intent": {"readonly", "readwrite"},
		"target.reconnect": {"backoff", "never", "always"}, "output.format": {"xml", "x"}, "output.progress": {"none", "plain", "tty", "json"},
		"params.order": {"sequential", "shuffled", "random", "slice"}, "statements.params.order": {"sequential", "shuffled", "random", "slice"},
		"statements.mode": {"batch", "tvp"},
	}
}

// descriptions are what editors show of a part.
func descriptions() map[string]string {
	return map[string]string{
		"target":            "Where to connect, and what a session is like. A password is given by SQLCMDPASSWORD or -P.",
		"load":              "How many connections, how long, and when iterations begin.",
		"params":            "Values for the @names of all statements.",
		"setup":             "Batches before the load, behind each login, and at the beginning of each iteration.",
		"teardown":          "Batches after the load, before each connection's end, and at the end of each iteration.",
		"statements":        "What is run: one of sql, file and workload.",
		"statements.params": "Values for the @names of this statement, in place of the scenario's.",
		"output":            "Where results go.",
	}
}

func schemaOf(t reflect.Type, path string) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Bool {
			return schemaOf(t.Elem(), path)
		}
		// Numbers and words alike: a switch reads them.
		if words := enums()[path]; words != nil {
			return map[string]any{"enum": words}
		}
		return map[string]any{"type": []string{"string", "number"}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), path)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		if path == "statements.connections" {
			return map[string]any{"type": "integer", "minimum": 1}
		}
		return map[string]any{"type": "number", "exclusiveMinimum": 0}
	case reflect.String:
		if words := enums()[path]; words != nil {
			return map[string]any{"enum": words}
		}
		return map[string]any{"type": "string"}
	}
	out := map[string]any{"type": "object", "additionalProperties": false}
	if text := descriptions()[path]; text != "" {
		out["description"] = text
	}
	if path == "statements" {
		var one []any
		for _, key := range []string{"sql", "file", "workload"} {
			one = append(one, map[string]any{"required": []string{key}})
		}
		out["oneOf"] = one
	}
	properties := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		properties[name] = schemaOf(f.Type, strings.TrimPrefix(path+"."+name, "."))
	}
	out["properties"] = properties
	return out
}
