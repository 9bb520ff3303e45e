package tsql

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// UserType returns the name of a user-defined type (alias or table type), or nil
// when the reference is to a built-in type.
func UserType(t ast.DataTypeReference) *ast.SchemaObjectName {
	switch t := t.(type) {
	case *ast.UserDataTypeReference:
		return t.Name
	case *ast.SqlDataTypeReference:
		if t != nil && t.SqlDataTypeOption == "" {
			return t.Name
		}
	}
	return nil
}

// patchTypes gives the types of DECLAREd variables their names back: teesql keeps
// only the span of a user-defined one.
func patchTypes(b *Batch) {
	Statements(b.Statements, func(s ast.Statement) {
		d, ok := s.(*ast.DeclareVariableStatement)
		if !ok {
			return
		}
		for _, e := range d.Declarations {
			if t := e.DataType; t != nil && t.SqlDataTypeOption == "" && t.Name == nil {
				t.Name = objectName(t.Fragment, b.Slice(t))
			}
		}
	})
}

// objectName builds a name of up to four parts from its text.
func objectName(at ast.Fragment, text string) *ast.SchemaObjectName {
	var ids []*ast.Identifier
	for text != "" {
		var id ast.Identifier
		id.Fragment = at
		id.Value, id.QuoteType, text = cutIdentifier(strings.TrimLeft(text, " \t\r\n"))
		text = strings.TrimLeft(text, " \t\r\n")
		ids = append(ids, &id)
		text = strings.TrimPrefix(text, ".")
	}
	if len(ids) == 0 {
		return nil
	}
	n := &ast.SchemaObjectName{Fragment: at, Count: len(ids), Identifiers: ids}
	part := func(fromEnd int) *ast.Identifier {
		if i := len(ids) - fromEnd; i >= 0 {
			return ids[i]
		}
		return nil
	}
	n.BaseIdentifier, n.SchemaIdentifier, n.DatabaseIdentifier, n.ServerIdentifier = part(1), part(2), part(3), part(4)
	return n
}

// cutIdentifier cuts one identifier off the front of text and says how it was quoted.
func cutIdentifier(text string) (value, quote, rest string) {
	if text == "" {
		return "", "NotQuoted", ""
	}
	closing := byte(0)
	switch text[0] {
	case '[':
		closing, quote = ']', "SquareBracket"
	case '"':
		closing, quote = '"', "DoubleQuote"
	default:
		i := strings.IndexAny(text, ". \t\r\n")
		if i < 0 {
			i = len(text)
		}
		return text[:i], "NotQuoted", text[i:]
	}
	var v strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] == closing {
			if i+1 < len(text) && text[i+1] == closing {
				i++
			} else {
				return v.String(), quote, text[i+1:]
			}
		}
		v.WriteByte(text[i])
	}
	return v.String(), quote, ""
}
