package expr

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/fn"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// call compiles a function call.
func (c *Compiler) call(e *ast.FunctionCall) (Expr, error) {
	if err := refuseClauses(e); err != nil {
		return Expr{}, err
	}
	name := e.FunctionName.Value
	var r Expr
	var err error
	if e.CallTarget != nil {
		r, err = c.userFunction(e)
	} else {
		r, err = c.builtin(name, e.Parameters)
	}
	if err != nil {
		return Expr{}, err
	}
	return collated(r, e.Collation)
}

func refuseClauses(e *ast.FunctionCall) error {
	name := strings.ToUpper(e.FunctionName.Value)
	switch {
	case e.OverClause != nil:
		return sqlerr.New(4108, 15, 1, "Window functions can stand in the SELECT and ORDER BY clauses only.")
	case e.WithinGroupClause != nil:
		return sqlerr.Unsupported(name + " WITHIN GROUP")
	case e.TrimOptions != nil:
		return sqlerr.Unsupported("TRIM(" + e.TrimOptions.Value + " ...)")
	case len(e.JsonParameters) > 0 || len(e.AbsentOrNullOnNull) > 0:
		return sqlerr.Unsupported(name)
	case len(e.IgnoreRespectNulls) > 0:
		return sqlerr.Unsupported(name + " IGNORE/RESPECT NULLS")
	case aggregates[name] && e.CallTarget == nil:
		return sqlerr.New(147, 15, 1, "The aggregate %s cannot stand here: aggregates belong in a select list, a HAVING or an ORDER BY clause.", name)
	case e.UniqueRowFilter == "Distinct":
		return sqlerr.New(102, 15, 1, "Syntax error near '%s'.", "DISTINCT")
	}
	return nil
}

var aggregates = map[string]bool{
	"SUM": true, "COUNT": true, "COUNT_BIG": true, "AVG": true, "MIN": true, "MAX": true, "STDEV": true, "STDEVP": true,
	"VAR": true, "VARP": true, "STRING_AGG": true, "CHECKSUM_AGG": true, "GROUPING": true, "GROUPING_ID": true,
	"APPROX_COUNT_DISTINCT": true,
}

// refused are functions of SQL Server that the engine does not have.
var refused = map[string]bool{
	"FORMAT": true, "FORMATMESSAGE": true, "STRING_ESCAPE": true, "STRING_SPLIT": true, "SOUNDEX": true, "DIFFERENCE": true,
	"JSON_VALUE": true, "JSON_QUERY": true, "JSON_MODIFY": true, "ISJSON": true, "JSON_ARRAY": true, "JSON_OBJECT": true,
	"COMPRESS": true, "DECOMPRESS": true, "TERTIARY_WEIGHTS": true, "CRYPT_GEN_RANDOM": true, "GET_BIT": true, "SET_BIT": true,
	"BIT_COUNT": true, "LEFT_SHIFT": true, "RIGHT_SHIFT": true, "DATE_BUCKET": true, "TEXTPTR": true, "TEXTVALID": true,
	"TYPEPROPERTY": true, "CURSOR_STATUS": true, "SQL_VARIANT_PROPERTY": true, "CERTENCODED": true, "PWDENCRYPT": true,
	"PWDCOMPARE": true, "ROW_NUMBER": true, "RANK": true, "DENSE_RANK": true, "NTILE": true, "LAG": true, "LEAD": true,
	"FIRST_VALUE": true, "LAST_VALUE": true, "OPENJSON": true, "CONTAINS": true, "TRANSLATE": false,
}

func (c *Compiler) userFunction(e *ast.FunctionCall) (Expr, error) {
	t, ok := e.CallTarget.(*ast.MultiPartIdentifierCallTarget)
	if !ok {
		return Expr{}, sqlerr.Unsupported("method call ." + e.FunctionName.Value + "()")
	}
	var parts []string
	for _, id := range t.MultiPartIdentifier.Identifiers {
		if id == nil {
			parts = append(parts, "")
			continue
		}
		parts = append(parts, id.Value)
	}
	parts = append(parts, e.FunctionName.Value)
	args, err := c.userArgs(e.Parameters)
	if err != nil {
		return Expr{}, err
	}
	if c.Env != nil {
		if r, ok, err := c.Env.Function(parts, args); ok || err != nil {
			return r, err
		}
	}
	return Expr{}, sqlerr.UnknownUserFunction(parts[0], strings.Join(parts, "."))
}

// userArgs compiles the arguments of a function of the database, where DEFAULT
// may stand for one.
func (c *Compiler) userArgs(params []ast.ScalarExpression) ([]Expr, error) {
	args := make([]Expr, len(params))
	for i, p := range params {
		if _, ok := p.(*ast.DefaultLiteral); ok {
			args[i] = Expr{Default: true, Nullable: true}
			continue
		}
		x, err := c.Scalar(p)
		if err != nil {
			return nil, err
		}
		args[i] = x
	}
	return args, nil
}

// builtin compiles a call without a schema.
func (c *Compiler) builtin(name string, params []ast.ScalarExpression) (Expr, error) {
	upper := strings.ToUpper(name)
	switch upper {
	case "ISNULL":
		return c.isNull(params)
	case "COALESCE":
		return c.coalesce(params)
	case "CHOOSE":
		return c.choose(params)
	}
	if r, ok, err := c.runtimeConstant(upper, params); ok || err != nil {
		return r, err
	}
	if refused[upper] {
		return Expr{}, sqlerr.Unsupported(upper)
	}
	if f, ok := fn.Lookup(upper); ok {
		return c.invoke(f, params)
	}
	args, err := c.list(params)
	if err != nil {
		return Expr{}, err
	}
	if c.Env != nil {
		if r, ok, err := c.Env.Function([]string{name}, args); ok || err != nil {
			return r, err
		}
	}
	return Expr{}, sqlerr.UnknownFunction(name)
}

func (c *Compiler) invoke(f *fn.Func, params []ast.ScalarExpression) (Expr, error) {
	if len(params) < f.MinArgs || (f.MaxArgs >= 0 && len(params) > f.MaxArgs) {
		lower := strings.ToLower(f.Name)
		if f.MinArgs == f.MaxArgs {
			return Expr{}, sqlerr.ArgumentCount(lower, f.MinArgs)
		}
		if f.MaxArgs < 0 {
			return Expr{}, sqlerr.ArgumentRange(lower, f.MinArgs, 254)
		}
		return Expr{}, sqlerr.ArgumentRange(lower, f.MinArgs, f.MaxArgs)
	}
	args := make([]Expr, 0, len(params))
	if f.Part {
		part, err := datePart(params[0], f)
		if err != nil {
			return Expr{}, sqlerr.AtLine(err, tsql.Line(params[0]))
		}
		args = append(args, part)
		params = params[1:]
	}
	rest, err := c.list(params)
	if err != nil {
		return Expr{}, err
	}
	args = append(args, rest...)
	ts := make([]types.Type, len(args))
	nullable := false
	strength := collCoercible
	coll := types.CollDefault
	for i, a := range args {
		ts[i] = a.Type
		nullable = nullable || a.Nullable
		if a.Type.Kind.IsString() && a.coll >= strength {
			strength, coll = a.coll, a.Type.Coll
		}
	}
	t, err := f.Type(ts)
	if err != nil {
		return Expr{}, err
	}
	out := Expr{Type: t, Nullable: true}
	if t.Kind.IsString() {
		out.Type.Coll, out.coll = coll, strength
	}
	out.Eval = invocation(f, args)
	if f.Cut && t.Len != types.Max {
		if f.Name == "REPLICATE" || f.Name == "SPACE" {
			// Nothing longer than the result is made only to be cut.
			args[len(args)-1].Eval = atMost(args[len(args)-1].Eval, int64(t.Len))
			out.Eval = invocation(f, args)
		}
		out.Eval = cut(out.Eval, t)
	}
	if t.Kind == types.KindBigInt {
		out.Eval = wide(out.Eval)
	}
	if !f.Deterministic {
		return out, nil
	}
	return fold(out, args...), nil
}

// wide gives whole numbers the type bigint: LEN and its like count as int.
func wide(eval evalFunc) evalFunc {
	return func(fr *Frame) (types.Value, error) {
		v, err := eval(fr)
		if err == nil && v.Kind() == types.KindInt {
			v = types.NewInt(types.KindBigInt, v.Int())
		}
		return v, err
	}
}

// atMost holds a whole number to a limit.
func atMost(eval evalFunc, limit int64) evalFunc {
	return func(fr *Frame) (types.Value, error) {
		v, err := eval(fr)
		if err == nil && v.Kind().IsInt() && !v.IsNull() && v.Int() > limit {
			v = types.NewInt(v.Kind(), limit)
		}
		return v, err
	}
}

// cut shortens text to the length of its type.
func cut(eval evalFunc, t types.Type) evalFunc {
	return func(fr *Frame) (types.Value, error) {
		v, err := eval(fr)
		if err != nil || v.IsNull() || len(v.Str()) <= int(t.Len) {
			return v, err
		}
		return types.Convert(v, t, 0)
	}
}

// invocation evaluates the arguments on the frame's scratch space.
func invocation(f *fn.Func, args []Expr) evalFunc {
	evs := make([]evalFunc, len(args))
	for i, a := range args {
		evs[i] = a.Eval
	}
	eval, n := f.Eval, len(evs)
	return func(fr *Frame) (types.Value, error) {
		vals := fr.push(n)
		for i, ev := range evs {
			v, err := ev(fr)
			if err != nil {
				fr.pop(n)
				return types.Value{}, err
			}
			vals[i] = v
		}
		v, err := eval(vals)
		fr.pop(n)
		return v, err
	}
}

// datePart reads the word that begins the arguments of DATEADD and its like.
func datePart(e ast.ScalarExpression, f *fn.Func) (Expr, error) {
	ref, ok := e.(*ast.ColumnReferenceExpression)
	if !ok || ref.MultiPartIdentifier == nil || len(ref.MultiPartIdentifier.Identifiers) != 1 {
		return Expr{}, sqlerr.New(1023, 15, 1, "Parameter 1 of %s is not valid: it must be the name of a datepart.", strings.ToLower(f.Name))
	}
	p, err := fn.ParsePart(ref.MultiPartIdentifier.Identifiers[0].Value, strings.ToLower(f.Name))
	if err != nil {
		return Expr{}, err
	}
	return Constant(types.Int, types.NewInt(types.KindInt, int64(p))), nil
}

func (c *Compiler) parameterless(e *ast.ParameterlessCall) (Expr, error) {
	var name string
	switch e.ParameterlessCallType {
	case "CurrentTimestamp":
		r, _, err := c.runtimeConstant("GETDATE", nil)
		return r, err
	case "CurrentDate":
		r, _, err := c.runtimeConstant("GETDATE", nil)
		if err != nil {
			return r, err
		}
		return Cast(r, types.Date, true)
	case "CurrentUser":
		name = "CURRENT_USER"
	case "SessionUser":
		name = "SESSION_USER"
	case "SystemUser":
		name = "SYSTEM_USER"
	default:
		name = "USER"
	}
	if c.Env != nil {
		if r, ok, err := c.Env.Function([]string{name}, nil); err != nil {
			return Expr{}, err
		} else if ok {
			return collated(r, e.Collation)
		}
	}
	return Expr{}, sqlerr.UnknownFunction(name)
}
