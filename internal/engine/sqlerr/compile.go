package sqlerr

// Syntax is 102: the parser stopped at a token.
func Syntax(near string) *Error {
	return New(102, 15, 1, "Syntax error near '%s'.", near)
}

// SyntaxKeyword is 156: the parser stopped at a keyword.
func SyntaxKeyword(near string) *Error {
	return New(156, 15, 1, "Syntax error near the keyword '%s'.", near)
}

// UnclosedString is 105.
func UnclosedString(text string) *Error {
	return New(105, 15, 1, "The closing quotation mark is missing after the character string '%s'.", text)
}

// UnclosedComment is 113.
func UnclosedComment() *Error {
	return New(113, 15, 1, "The closing comment mark '*/' is missing.")
}

// NestedTooDeep is 191: a statement nests deeper than the engine follows.
func NestedTooDeep() *Error {
	return New(191, 15, 1, "A part of this SQL statement is nested too deeply. Break it up into smaller statements.")
}

// Unsupported is 40514: T-SQL that SQL Server knows and this engine does not.
// The construct is named as a DBA would write it.
func Unsupported(construct string) *Error {
	return New(40514, 16, 1, "'%s' is not supported by this engine.", construct)
}

// UnsupportedOption is 40517: an option of a supported statement that this
// engine does not have.
func UnsupportedOption(option string) *Error {
	return New(40517, 16, 1, "The keyword or statement option '%s' is not supported by this engine.", option)
}

// UndeclaredVariable is 137.
func UndeclaredVariable(name string) *Error {
	return New(137, 15, 2, "The scalar variable \"%s\" must be declared before it is used.", name)
}

// UndeclaredTable is 1087.
func UndeclaredTable(name string) *Error {
	return New(1087, 15, 2, "The table variable \"%s\" must be declared before it is used.", name)
}

// DuplicateVariable is 134.
func DuplicateVariable(name string) *Error {
	return New(134, 15, 2, "The variable '%s' is declared already. Names are unique within a batch or a procedure.", name)
}

// InvalidColumn is 207.
func InvalidColumn(name string) *Error {
	return New(207, 16, 1, "Column name '%s' is not valid here.", name)
}

// InvalidObject is 208.
func InvalidObject(name string) *Error {
	return New(208, 16, 1, "Object name '%s' is not valid: there is no such object.", name)
}

// AmbiguousColumn is 209.
func AmbiguousColumn(name string) *Error {
	return New(209, 16, 1, "Column name '%s' is ambiguous: more than one source has it.", name)
}

// Unbound is 4104: a name of several parts that fits no source.
func Unbound(name string) *Error {
	return New(4104, 16, 1, "The multi-part identifier \"%s\" belongs to no source of this statement.", name)
}

// DuplicateAlias is 1011.
func DuplicateAlias(name string) *Error {
	return New(1011, 16, 1, "The correlation name '%s' is used more than once in a FROM clause.", name)
}

// DuplicateExposedName is 1013.
func DuplicateExposedName(a, b string) *Error {
	return New(1013, 16, 1, "The objects \"%s\" and \"%s\" in the FROM clause show the same name. Tell them apart with correlation names.", a, b)
}

// UnknownFunction is 195.
func UnknownFunction(name string) *Error {
	return New(195, 15, 10, "'%s' is not the name of a built-in function.", name)
}

// UnknownUserFunction is 4121: schema.name(...) that is neither.
func UnknownUserFunction(schema, name string) *Error {
	return New(4121, 16, 1, "There is neither a column \"%s\" nor a user-defined function or aggregate \"%s\", or the name is ambiguous.", schema, name)
}

// ArgumentCount is 174: a function takes exactly n arguments.
func ArgumentCount(name string, n int) *Error {
	return New(174, 15, 1, "The function %s takes %d argument(s).", name, n)
}

// ArgumentRange is 189: a function takes from lo to hi arguments.
func ArgumentRange(name string, lo, hi int) *Error {
	return New(189, 15, 1, "The function %s takes %d to %d arguments.", name, lo, hi)
}

// ArgumentType is 8116.
func ArgumentType(typ string, n int, function string) *Error {
	return New(8116, 16, 1, "Data type %s is not valid for argument %d of the function %s.", typ, n, function)
}

// UnknownOption is 155: a word that is no datepart, for example.
func UnknownOption(word, function string) *Error {
	return New(155, 15, 1, "'%s' is not a known option of %s.", word, function)
}

// UnknownType is 2715. n is the ordinal of the column, parameter or variable.
func UnknownType(n int, name string) *Error {
	return New(2715, 16, 6, "Column, parameter or variable #%d: data type %s cannot be found.", n, name)
}

// UnknownTypeName is 243: CAST or CONVERT to a type that is none.
func UnknownTypeName(name string) *Error {
	return New(243, 16, 1, "Type %s is not a defined system type.", name)
}

// TooManyColumns is 116: a subquery with more than one column where one is wanted.
func TooManyColumns() *Error {
	return New(116, 16, 1, "A subquery that EXISTS does not introduce can have one expression in its select list only.")
}

// UnknownCollation is 448.
func UnknownCollation(name string) *Error {
	return New(448, 16, 1, "Collation '%s' is not valid.", name)
}

// CollationConflict is 468.
func CollationConflict(a, b, op string) *Error {
	return New(468, 16, 9, "The collations \"%s\" and \"%s\" conflict in the %s operation.", a, b, op)
}
