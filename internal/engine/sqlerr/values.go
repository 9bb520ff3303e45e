package sqlerr

// DivideByZero is 8134.
func DivideByZero() *Error {
	return New(8134, 16, 1, "Division by zero.")
}

// Overflow is 8115: an expression does not fit its data type.
func Overflow(typ string) *Error {
	return New(8115, 16, 2, "Arithmetic overflow while converting an expression to data type %s.", typ)
}

// OverflowFrom is 8115 in its second form: one type's value does not fit another.
func OverflowFrom(from, to string) *Error {
	return New(8115, 16, 8, "Arithmetic overflow while converting %s to data type %s.", from, to)
}

// OverflowValue is 220: an integer does not fit a smaller integer type.
func OverflowValue(typ string, value int64) *Error {
	return New(220, 16, 2, "Arithmetic overflow for data type %s, value = %d.", typ, value)
}

// OverflowFloat is 232: a float does not fit an integer or money type.
func OverflowFloat(typ string, value float64) *Error {
	return New(232, 16, 3, "Arithmetic overflow for type %s, value = %f.", typ, value)
}

// ConversionFailed is 245: a string is no number.
func ConversionFailed(from, value, to string) *Error {
	return New(245, 16, 1, "The %s value '%s' cannot be converted to data type %s.", from, value, to)
}

// StringOverflowsInt is 248.
func StringOverflowsInt(from, value string) *Error {
	return New(248, 16, 1, "The conversion of the %s value '%s' overflows an int column.", from, value)
}

// StringOverflowsSmall is 244. The storage type is INT1 or INT2.
func StringOverflowsSmall(from, value, storage string) *Error {
	return New(244, 16, 2, "The conversion of the %s value '%s' overflows an %s column. Use a larger integer column.", from, value, storage)
}

// ErrorConverting is 8114: the general conversion error.
func ErrorConverting(from, to string) *Error {
	return New(8114, 16, 5, "Data type %s cannot be converted to %s: the value does not fit.", from, to)
}

// BadMoneyString is 235.
func BadMoneyString() *Error {
	return New(235, 16, 0, "A char value cannot be converted to money: it is not written as one.")
}

// BadDateString is 241.
func BadDateString() *Error {
	return New(241, 16, 1, "Conversion to date and/or time failed: the character string is not one.")
}

// DateOutOfRange is 242.
func DateOutOfRange(from, to string) *Error {
	return New(242, 16, 3, "The conversion of a %s data type to a %s data type gave a value out of range.", from, to)
}

// BadSmallDateString is 295.
func BadSmallDateString() *Error {
	return New(295, 16, 3, "The character string cannot be converted to smalldatetime.")
}

// BadGUIDString is 8169.
func BadGUIDString() *Error {
	return New(8169, 16, 2, "The character string cannot be converted to uniqueidentifier.")
}

// NoImplicitConversion is 257.
func NoImplicitConversion(from, to string) *Error {
	return New(257, 16, 3, "Data type %s is not converted to %s implicitly. Use CONVERT.", from, to)
}

// TypeClash is 206.
func TypeClash(a, b string) *Error {
	return New(206, 16, 2, "Operand types clash: %s does not go with %s.", a, b)
}

// NoExplicitConversion is 529.
func NoExplicitConversion(from, to string) *Error {
	return New(529, 16, 2, "Data type %s cannot be converted to %s explicitly.", from, to)
}

// InvalidOperand is 8117.
func InvalidOperand(typ, operator string) *Error {
	return New(8117, 16, 1, "Operand data type %s is not valid for the %s operator.", typ, operator)
}

// IncompatibleOperands is 402.
func IncompatibleOperands(a, b, operator string) *Error {
	return New(402, 16, 1, "The data types %s and %s do not go together in the %s operator.", a, b, operator)
}

// NotComparable is 306 for text, ntext and image.
func NotComparable() *Error {
	return New(306, 16, 2, "The text, ntext and image data types can be neither compared nor sorted, except with IS NULL and LIKE.")
}

// Truncated is 2628: a value is too long for its column.
func Truncated(table, column, value string) *Error {
	return New(2628, 16, 1, "String or binary data would be truncated in table '%s', column '%s'. Truncated value: '%s'.", table, column, value)
}

// TruncatedBare is 8152: the same where neither table nor column has a name.
func TruncatedBare() *Error {
	return New(8152, 16, 30, "String or binary data would be truncated.")
}

// ShortTarget is 234: no room for a number in a string of this type.
func ShortTarget(to string) *Error {
	return New(234, 16, 2, "The result has no room in %s: the target string is too short for the money value.", to)
}

// SubqueryRows is 512.
func SubqueryRows() *Error {
	return New(512, 16, 1, "The subquery returned more than one value, where only one can be used.")
}

// InvalidLength is 537: LEFT or SUBSTRING with a negative length.
func InvalidLength() *Error {
	return New(537, 16, 3, "The length given to LEFT or SUBSTRING is not valid.")
}

// InvalidRightLength is 536: RIGHT and others with a negative length.
func InvalidRightLength(function string) *Error {
	return New(536, 16, 1, "The length given to %s is not valid.", function)
}

// DateAddOverflow is 517.
func DateAddOverflow(typ string) *Error {
	return New(517, 16, 1, "Adding a value to a '%s' column caused an overflow.", typ)
}

// DateDiffOverflow is 535.
func DateDiffOverflow() *Error {
	return New(535, 16, 0, "DATEDIFF overflows: too many dateparts separate the two date/time instances. Use a larger datepart.")
}

// DatepartUnsupported is 9810.
func DatepartUnsupported(part, function, typ string) *Error {
	return New(9810, 16, 1, "The datepart %s is not supported by date function %s for data type %s.", part, function, typ)
}

// BadDateParts is 289.
func BadDateParts(typ string) *Error {
	return New(289, 16, 1, "Data type %s cannot be constructed: some arguments have values that are not valid.", typ)
}

// InvalidFloat is 3623.
func InvalidFloat() *Error {
	return New(3623, 16, 1, "A floating point operation is not valid.")
}

// InvalidStyle is 281.
func InvalidStyle(style int, from, to string) *Error {
	return New(281, 16, 1, "%d is not a style number for a conversion from %s to %s.", style, from, to)
}

// InvalidEscape is 506.
func InvalidEscape(escape, predicate string) *Error {
	return New(506, 16, 1, "The escape character \"%s\" in a %s predicate is not valid.", escape, predicate)
}
