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

// enums are the words that a key takes.
func enums() map[string][]string {
	return map[string][]string{
		"target.session": {"odbc", "ssms"}, "target.encrypt": {"mandatory", "optional", "strict", "disable"},
		"load.arrivals": {"constant", "poisson"}, "load.late": {"queue", "skip"},
		"params.order": {"sequential", "shuffled", "random", "slice"}, "statements.mode": {"batch", "tvp"},
	}
}

func schemaOf(t reflect.Type, path string) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
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
		return map[string]any{"type": "number", "exclusiveMinimum": 0}
	case reflect.String:
		if words := enums()[path]; words != nil {
			return map[string]any{"enum": words}
		}
		return map[string]any{"type": "string"}
	}
	properties := map[string]any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		properties[name] = schemaOf(f.Type, strings.TrimPrefix(path+"."+name, "."))
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}
