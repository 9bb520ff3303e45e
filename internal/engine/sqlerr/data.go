package sqlerr

// NullViolation is 515. Action is INSERT or UPDATE.
func NullViolation(column, table, action string) *Error {
	return New(515, 16, 2, "NULL cannot go into column '%s' of table '%s', which does not allow it. %s fails.", column, table, action)
}

// ConstraintConflict is 547. Kind is CHECK, FOREIGN KEY or REFERENCE; column
// may be empty.
func ConstraintConflict(action, kind, constraint, database, table, column string) *Error {
	if column == "" {
		return New(547, 16, 0, "The %s statement conflicts with the %s constraint \"%s\". It happened in database \"%s\", table \"%s\".",
			action, kind, constraint, database, table)
	}
	return New(547, 16, 0, "The %s statement conflicts with the %s constraint \"%s\". It happened in database \"%s\", table \"%s\", column '%s'.",
		action, kind, constraint, database, table, column)
}

// DuplicateKeyConstraint is 2627. Kind is PRIMARY KEY or UNIQUE KEY; key is
// the duplicate key's values in parentheses.
func DuplicateKeyConstraint(kind, constraint, object, key string) *Error {
	return New(2627, 14, 1, "The %s constraint '%s' is violated: object '%s' cannot take a duplicate key. The duplicate key value is %s.",
		kind, constraint, object, key)
}

// DuplicateKeyIndex is 2601.
func DuplicateKeyIndex(object, index, key string) *Error {
	return New(2601, 14, 1, "A duplicate key row cannot be inserted in object '%s' with unique index '%s'. The duplicate key value is %s.",
		object, index, key)
}

// DuplicateKeyOnCreate is 1505.
func DuplicateKeyOnCreate(object, index, key string) *Error {
	return New(1505, 16, 1, "The CREATE UNIQUE INDEX statement ends: object '%s' and index '%s' have a duplicate key. The duplicate key value is %s.",
		object, index, key)
}

// ColumnCount is 213: values and columns of an INSERT do not match.
func ColumnCount() *Error {
	return New(213, 16, 1, "The column names or the number of values given do not match the table's definition.")
}

// MoreColumns is 109 or 110: an INSERT's column list and VALUES differ in length.
func MoreColumns(moreNames bool) *Error {
	if moreNames {
		return New(109, 15, 1, "The INSERT statement has more columns than values in its VALUES clause. The numbers must be equal.")
	}
	return New(110, 15, 1, "The INSERT statement has fewer columns than values in its VALUES clause. The numbers must be equal.")
}

// Deadlock is 1205.
func Deadlock(process int) *Error {
	return New(1205, 13, 51, "Transaction (process ID %d) was deadlocked on lock resources with another process and was chosen as the victim. Run it again.", process)
}

// LockTimeout is 1222.
func LockTimeout() *Error {
	return New(1222, 16, 51, "The lock request's time is over.")
}

// SnapshotConflict is 3960.
func SnapshotConflict(table, database string) *Error {
	return New(3960, 16, 2, "The snapshot isolation transaction ends: an update conflicts with another transaction on table '%s' in database '%s'. Run it again.", table, database)
}

// WriteConflict is 41302: the row of a memory-optimized table was changed
// after this transaction began.
func WriteConflict() *Error {
	return New(41302, 16, 110, "The current transaction tried to change a row that was changed after this transaction began. The transaction ends.")
}

// RepeatableReadValidation is 41305.
func RepeatableReadValidation() *Error {
	return New(41305, 16, 0, "The current transaction cannot commit: repeatable read validation failed.")
}

// SerializableValidation is 41325.
func SerializableValidation() *Error {
	return New(41325, 16, 0, "The current transaction cannot commit: serializable validation failed.")
}

// ValueTooLong is 7119 with the engine's own limit, in bytes.
func ValueTooLong(limit int) *Error {
	return New(7119, 16, 1, "A value of more than %d bytes cannot be made: this engine's largest value is of that size.", limit)
}

// MissingProcedure is 2812.
func MissingProcedure(name string) *Error {
	return New(2812, 16, 62, "Stored procedure '%s' cannot be found.", name)
}

// MissingParameter is 201.
func MissingParameter(procedure, parameter string) *Error {
	return New(201, 16, 4, "Procedure or function '%s' expects parameter '%s', which was not supplied.", procedure, parameter)
}

// TooManyArguments is 8144.
func TooManyArguments(procedure string) *Error {
	return New(8144, 16, 2, "Too many arguments are given to procedure or function %s.", procedure)
}

// UnknownParameter is 8145.
func UnknownParameter(parameter, procedure string) *Error {
	return New(8145, 16, 2, "%s is not a parameter of procedure %s.", parameter, procedure)
}
