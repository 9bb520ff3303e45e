package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/tsql"
	"gostress/internal/engine/types"
)

// Scalar compiles a scalar expression. Errors are *sqlerr.Error with their line.
func (c *Compiler) Scalar(e ast.ScalarExpression) (Expr, error) {
	if c.Rewrite != nil {
		if r, ok, err := c.Rewrite(e); ok || err != nil {
			return r, sqlerr.AtLine(err, tsql.Line(e))
		}
	}
	r, err := c.scalar(e)
	if err != nil {
		return Expr{}, sqlerr.AtLine(err, tsql.Line(e))
	}
	return r, nil
}

func (c *Compiler) scalar(e ast.ScalarExpression) (Expr, error) {
	switch e := e.(type) {
	case *ast.ColumnReferenceExpression:
		return c.column(e)
	case *ast.VariableReference:
		return c.variable(e.Name)
	case *ast.IntegerLiteral:
		return integerLiteral(e.Value)
	case *ast.NumericLiteral:
		return numericLiteral(e.Value)
	case *ast.StringLiteral:
		return stringLiteral(e.Value, e.IsNational), nil
	case *ast.NullLiteral:
		return Constant(types.Null, types.NULL()), nil
	case *ast.MoneyLiteral:
		v, err := types.Convert(types.NewString(types.KindVarChar, e.Value), types.Money, 0)
		return Constant(types.Money, v), err
	case *ast.RealLiteral:
		v, err := types.Convert(types.NewString(types.KindVarChar, e.Value), types.Float, 0)
		return Constant(types.Float, v), err
	case *ast.BinaryLiteral:
		return binaryLiteral(e.Value)
	case *ast.OdbcLiteral:
		return odbcLiteral(e)
	case *ast.ParenthesisExpression:
		r, err := c.Scalar(e.Expression)
		r.Name = ""
		return r, err
	case *ast.UnaryExpression:
		return c.unary(e)
	case *ast.BinaryExpression:
		return c.binary(e)
	case *ast.GlobalVariableExpression:
		return c.global(e.Name)
	case *ast.SearchedCaseExpression:
		return c.searchedCase(e)
	case *ast.SimpleCaseExpression:
		return c.simpleCase(e)
	case *ast.IIfCall:
		return c.iif(e)
	case *ast.CoalesceExpression:
		return c.coalesce(e.Expressions)
	case *ast.NullIfExpression:
		return c.nullIf(e)
	case *ast.CastCall:
		return c.cast(e.Parameter, e.DataType, nil, e.Collation, false)
	case *ast.TryCastCall:
		return c.cast(e.Parameter, e.DataType, nil, e.Collation, true)
	case *ast.ConvertCall:
		return c.cast(e.Parameter, e.DataType, e.Style, e.Collation, false)
	case *ast.TryConvertCall:
		return c.cast(e.Parameter, e.DataType, e.Style, e.Collation, true)
	case *ast.FunctionCall:
		return c.call(e)
	case *ast.LeftFunctionCall:
		return c.builtin("LEFT", e.Parameters)
	case *ast.RightFunctionCall:
		return c.builtin("RIGHT", e.Parameters)
	case *ast.ParameterlessCall:
		return c.parameterless(e)
	case *ast.ScalarSubquery:
		r, err := c.scalarSubquery(e.QueryExpression)
		if err != nil {
			return Expr{}, err
		}
		return collated(r, e.Collation)
	case *ast.DefaultLiteral:
		return Expr{}, sqlerr.SyntaxKeyword("DEFAULT")
	}
	return Expr{}, sqlerr.Unsupported(constructName(e))
}

// constructName names a scalar construct that the engine does not have.
func constructName(e ast.ScalarExpression) string {
	switch e := e.(type) {
	case *ast.ParseCall:
		return "PARSE"
	case *ast.TryParseCall:
		return "TRY_PARSE"
	case *ast.NextValueForExpression:
		return "NEXT VALUE FOR"
	case *ast.AtTimeZoneCall:
		return "AT TIME ZONE"
	case *ast.IdentityFunctionCall:
		return "IDENTITY function"
	case *ast.OdbcFunctionCall:
		return "{fn " + strings.ToUpper(e.Name.Value) + "}"
	case *ast.ExtractFromExpression:
		return "EXTRACT"
	case *ast.UserDefinedTypePropertyAccess:
		return "property of a CLR type"
	case *ast.PartitionFunctionCall:
		return "$PARTITION"
	case *ast.IdentifierLiteral:
		return "identifier " + e.Value
	case *ast.MaxLiteral:
		return "MAX"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", e), "*ast.")
}

// Constant makes an expression of a value.
func Constant(t types.Type, v types.Value) Expr {
	return Expr{Type: t, Const: true, Value: v, Nullable: v.IsNull(),
		Eval: func(*Frame) (types.Value, error) { return v, nil }}
}

// Register makes an expression that reads a register.
func Register(reg int, t types.Type, name string, nullable bool) Expr {
	return Expr{Type: t, Name: name, Nullable: nullable, coll: collImplicit,
		Eval: func(f *Frame) (types.Value, error) { return f.Regs[reg], nil }}
}

// Variable makes an expression that reads a variable.
func Variable(slot int, t types.Type) Expr {
	return Expr{Type: t, Nullable: true, Eval: func(f *Frame) (types.Value, error) { return f.Vars[slot], nil }}
}

// fold evaluates an expression whose operands are constant now. What fails is
// left to fail when it runs, as a CASE may never get there.
func fold(e Expr, operands ...Expr) Expr {
	for i := range operands {
		if !operands[i].Const {
			return e
		}
	}
	v, err := e.Eval(new(Frame))
	if err != nil {
		return e
	}
	r := Constant(e.Type, v)
	r.coll = e.coll
	return r
}

func (c *Compiler) column(e *ast.ColumnReferenceExpression) (Expr, error) {
	if e.MultiPartIdentifier == nil {
		switch e.ColumnType {
		case "Wildcard":
			return Expr{}, sqlerr.Syntax("*")
		case "PseudoColumnAction":
			return Expr{}, sqlerr.InvalidColumn("$action")
		}
		return Expr{}, sqlerr.Unsupported(strings.ToUpper(strings.TrimPrefix(e.ColumnType, "PseudoColumn")))
	}
	ids := e.MultiPartIdentifier.Identifiers
	var buf [4]string
	parts := buf[:0]
	for _, id := range ids {
		if id == nil {
			parts = append(parts, "")
			continue
		}
		parts = append(parts, id.Value)
	}
	ref, err := c.Scope.Resolve(parts)
	if err != nil {
		return Expr{}, err
	}
	r := Register(ref.Reg, ref.Column.Type, ref.Column.Name, ref.Column.Nullable)
	return collated(r, e.Collation)
}

func (c *Compiler) variable(name string) (Expr, error) {
	slot, t, ok := c.Scope.LookupVar(name)
	if !ok {
		return Expr{}, sqlerr.UndeclaredVariable(name)
	}
	return Variable(slot, t), nil
}

func (c *Compiler) global(name string) (Expr, error) {
	if c.Env != nil {
		if r, ok := c.Env.Global(name); ok {
			return r, nil
		}
	}
	return Expr{}, sqlerr.UndeclaredVariable(name)
}

// collated applies a COLLATE clause; nil is none.
func collated(e Expr, id *ast.Identifier) (Expr, error) {
	if id == nil {
		return e, nil
	}
	coll, err := types.CollationByName(id.Value)
	if err != nil {
		return Expr{}, err
	}
	if !e.Type.Kind.IsString() && e.Type.Kind != types.KindNull {
		return Expr{}, sqlerr.New(447, 16, 0, "Data type %s is not valid for a COLLATE clause.", e.Type.Name())
	}
	e.Type.Coll, e.coll = coll, collExplicit
	return e, nil
}

// commonCollation is the collation in which two expressions meet. Error: 468.
func commonCollation(a, b Expr, op string) (types.Collation, collStrength, error) {
	switch {
	case a.coll > b.coll:
		return a.Type.Coll, a.coll, nil
	case b.coll > a.coll:
		return b.Type.Coll, b.coll, nil
	case a.Type.Coll != b.Type.Coll && a.coll != collCoercible:
		return 0, 0, sqlerr.CollationConflict(b.Type.Coll.String(), a.Type.Coll.String(), op)
	case a.coll == collCoercible:
		return max(a.Type.Coll, b.Type.Coll), a.coll, nil
	}
	return a.Type.Coll, a.coll, nil
}

func integerLiteral(text string) (Expr, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return numericLiteral(text)
	}
	r := Constant(types.Int, types.NewInt(types.KindInt, n))
	r.literal = true
	return r, nil
}

func numericLiteral(text string) (Expr, error) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		r := Constant(types.Int, types.NewInt(types.KindInt, n))
		r.literal = true
		return r, nil
	}
	v, prec, scale, ok := types.ParseDecimal(text)
	if !ok {
		return Expr{}, sqlerr.New(1007, 15, 1, "The number '%s' is out of the range for numeric representation (maximum precision 38).", text)
	}
	return Constant(types.Decimal(prec, scale), v), nil
}

func stringLiteral(s string, national bool) Expr {
	if national {
		n := types.UTF16Len(s)
		t := types.NVarChar(max(n, 1))
		if n > 4000 {
			t = types.NVarChar(types.Max)
		}
		return Constant(t, types.NewString(types.KindNVarChar, s))
	}
	t := types.VarChar(types.Max)
	v, err := types.Convert(types.NewString(types.KindNVarChar, s), t, 0)
	if err != nil {
		v = types.NewString(types.KindVarChar, s)
	}
	if n := len([]rune(v.Str())); n <= 8000 {
		t = types.VarChar(max(n, 1))
	}
	return Constant(t, v)
}

func binaryLiteral(text string) (Expr, error) {
	digits := strings.ReplaceAll(text[2:], "\\\n", "")
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	b := make([]byte, len(digits)/2)
	for i := range b {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			return Expr{}, sqlerr.Syntax(text)
		}
		b[i] = byte(n)
	}
	t := types.VarBinary(max(len(b), 1))
	if len(b) > 8000 {
		t = types.VarBinary(types.Max)
	}
	return Constant(t, types.NewBytes(types.KindVarBinary, b)), nil
}

func odbcLiteral(e *ast.OdbcLiteral) (Expr, error) {
	t := types.DateTime
	if e.OdbcLiteralType == "Guid" {
		t = types.UniqueIdentifier
	}
	v, err := types.Convert(types.NewString(types.KindVarChar, e.Value), t, 0)
	return Constant(t, v), err
}

// DataType turns a type reference into a type. In a CAST the length of a char
// or binary type that gives none is 30, in a declaration 1. Errors: 243, 2715,
// and those of types.ParseTypeName.
func (c *Compiler) DataType(ref ast.DataTypeReference, cast bool) (types.Type, error) {
	var name string
	var params []ast.ScalarExpression
	switch r := ref.(type) {
	case *ast.SqlDataTypeReference:
		name, params = r.SqlDataTypeOption, r.Parameters
	case *ast.UserDataTypeReference:
		params = r.Parameters
	case *ast.XmlDataTypeReference:
		return types.Null, sqlerr.Unsupported("data type xml")
	default:
		return types.Null, sqlerr.Unsupported("data type")
	}
	if name == "" {
		return c.userType(ref, params, cast)
	}
	args, err := typeArgs(params)
	if err != nil {
		return types.Null, err
	}
	t, err := types.ParseTypeName(strings.ToLower(name), args)
	if err != nil {
		return types.Null, err
	}
	return defaultLength(t, len(args) == 0 && cast), nil
}

func (c *Compiler) userType(ref ast.DataTypeReference, params []ast.ScalarExpression, cast bool) (types.Type, error) {
	n := tsql.UserType(ref)
	if n == nil || n.BaseIdentifier == nil {
		return types.Null, sqlerr.UnknownTypeName("")
	}
	name := n.BaseIdentifier.Value
	if c.Env != nil {
		if tr, ok := c.Env.(TypeResolver); ok {
			if t, ok := tr.UserType(n); ok {
				return t, nil
			}
		}
	}
	if n.SchemaIdentifier != nil && !strings.EqualFold(n.SchemaIdentifier.Value, "sys") {
		return types.Null, unknownType(n.SchemaIdentifier.Value+"."+name, cast)
	}
	args, err := typeArgs(params)
	if err != nil {
		return types.Null, err
	}
	t, err := types.ParseTypeName(name, args)
	if sqlerr.Number(err) == 2715 {
		return types.Null, unknownType(name, cast)
	}
	return defaultLength(t, len(args) == 0 && cast), err
}

func unknownType(name string, cast bool) error {
	if cast {
		return sqlerr.UnknownTypeName(name)
	}
	return sqlerr.UnknownType(1, name)
}

func defaultLength(t types.Type, cast bool) types.Type {
	if cast && t.Len == 1 && (t.Kind.IsString() || t.Kind.IsBinary()) {
		t.Len = 30
	}
	return t
}

func typeArgs(params []ast.ScalarExpression) ([]int, error) {
	var args []int
	for _, p := range params {
		switch p := p.(type) {
		case *ast.IntegerLiteral:
			n, err := strconv.Atoi(p.Value)
			if err != nil {
				return nil, sqlerr.Syntax(p.Value)
			}
			args = append(args, n)
		case *ast.MaxLiteral:
			args = append(args, types.Max)
		default:
			return nil, sqlerr.AtLine(sqlerr.Syntax("data type's parameter"), tsql.Line(p))
		}
	}
	return args, nil
}
