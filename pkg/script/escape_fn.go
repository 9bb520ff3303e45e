package script

import (
	"fmt"
	"strings"
)

// twin is the T-SQL for a scalar function of ODBC. (*) stands for all arguments, $1
// for the first.
type twin struct {
	min, max int
	form     string
}

// twins are the scalar functions of ODBC (ODBC Programmer's Reference, appendix
// E), by name. Those of another grammar are in twinOf.
var twins = map[string]twin{
	"ASCII":            {1, 1, "ASCII(*)"},
	"BIT_LENGTH":       {1, 1, "(8 * DATALENGTH($1))"},
	"CHAR":             {1, 1, "CHAR(*)"},
	"CHAR_LENGTH":      {1, 1, "LEN(REPLACE(*, ' ', '.'))"}, // LEN alone leaves blanks at the end out
	"CHARACTER_LENGTH": {1, 1, "LEN(REPLACE(*, ' ', '.'))"},
	"CONCAT":           {2, 2, "CONCAT(*)"},
	"DIFFERENCE":       {2, 2, "DIFFERENCE(*)"},
	"INSERT":           {4, 4, "STUFF(*)"},
	"LCASE":            {1, 1, "LOWER(*)"},
	"LEFT":             {2, 2, "LEFT(*)"},
	"LENGTH":           {1, 1, "LEN(*)"},
	"LOCATE":           {2, 3, "CHARINDEX(*)"},
	"LTRIM":            {1, 1, "LTRIM(*)"},
	"OCTET_LENGTH":     {1, 1, "DATALENGTH(*)"},
	"REPEAT":           {2, 2, "REPLICATE(*)"},
	"REPLACE":          {3, 3, "REPLACE(*)"},
	"RIGHT":            {2, 2, "RIGHT(*)"},
	"RTRIM":            {1, 1, "RTRIM(*)"},
	"SOUNDEX":          {1, 1, "SOUNDEX(*)"},
	"SPACE":            {1, 1, "SPACE(*)"},
	"SUBSTRING":        {3, 3, "SUBSTRING(*)"},
	"UCASE":            {1, 1, "UPPER(*)"},

	"ABS":      {1, 1, "ABS(*)"},
	"ACOS":     {1, 1, "ACOS(*)"},
	"ASIN":     {1, 1, "ASIN(*)"},
	"ATAN":     {1, 1, "ATAN(*)"},
	"ATAN2":    {2, 2, "ATN2(*)"},
	"CEILING":  {1, 1, "CEILING(*)"},
	"COS":      {1, 1, "COS(*)"},
	"COT":      {1, 1, "COT(*)"},
	"DEGREES":  {1, 1, "DEGREES(*)"},
	"EXP":      {1, 1, "EXP(*)"},
	"FLOOR":    {1, 1, "FLOOR(*)"},
	"LOG":      {1, 1, "LOG(*)"},
	"LOG10":    {1, 1, "LOG10(*)"},
	"MOD":      {2, 2, "($1 % $2)"},
	"PI":       {0, 0, "PI()"},
	"POWER":    {2, 2, "POWER(*)"},
	"RADIANS":  {1, 1, "RADIANS(*)"},
	"RAND":     {0, 1, "RAND(*)"},
	"ROUND":    {2, 2, "ROUND(*)"},
	"SIGN":     {1, 1, "SIGN(*)"},
	"SIN":      {1, 1, "SIN(*)"},
	"SQRT":     {1, 1, "SQRT(*)"},
	"TAN":      {1, 1, "TAN(*)"},
	"TRUNCATE": {2, 2, "ROUND(*, 1)"},

	"CURDATE":      {0, 0, "CAST(SYSDATETIME() AS date)"},
	"CURRENT_DATE": {0, 0, "CAST(SYSDATETIME() AS date)"},
	"CURTIME":      {0, 0, "CAST(SYSDATETIME() AS time(0))"},
	"DAYNAME":      {1, 1, "DATENAME(weekday, $1)"},
	"DAYOFMONTH":   {1, 1, "DATEPART(day, $1)"},
	"DAYOFWEEK":    {1, 1, "(1 + (DATEPART(weekday, $1) + @@DATEFIRST - 1) % 7)"}, // 1 is Sunday, whatever SET DATEFIRST says
	"DAYOFYEAR":    {1, 1, "DATEPART(dayofyear, $1)"},
	"HOUR":         {1, 1, "DATEPART(hour, $1)"},
	"MINUTE":       {1, 1, "DATEPART(minute, $1)"},
	"MONTH":        {1, 1, "DATEPART(month, $1)"},
	"MONTHNAME":    {1, 1, "DATENAME(month, $1)"},
	"NOW":          {0, 0, "GETDATE()"},
	"QUARTER":      {1, 1, "DATEPART(quarter, $1)"},
	"SECOND":       {1, 1, "DATEPART(second, $1)"},
	"WEEK":         {1, 1, "DATEPART(week, $1)"},
	"YEAR":         {1, 1, "DATEPART(year, $1)"},

	"DATABASE": {0, 0, "DB_NAME()"},
	"IFNULL":   {2, 2, "ISNULL(*)"},
	"USER":     {0, 0, "USER_NAME()"},
}

// sqlTypes are the types that {fn CONVERT(x, type)} names. Lengths are the longest that
// cut nothing.
var sqlTypes = map[string]string{
	"SQL_BIGINT": "bigint", "SQL_BINARY": "binary", "SQL_BIT": "bit", "SQL_CHAR": "char", "SQL_DATE": "date",
	"SQL_DECIMAL": "decimal", "SQL_DOUBLE": "float", "SQL_FLOAT": "float", "SQL_GUID": "uniqueidentifier",
	"SQL_INTEGER": "int", "SQL_LONGVARBINARY": "varbinary(max)", "SQL_LONGVARCHAR": "varchar(max)", "SQL_NUMERIC": "numeric",
	"SQL_REAL": "real", "SQL_SMALLINT": "smallint", "SQL_TIME": "time", "SQL_TIMESTAMP": "datetime", "SQL_TINYINT": "tinyint",
	"SQL_TYPE_DATE": "date", "SQL_TYPE_TIME": "time", "SQL_TYPE_TIMESTAMP": "datetime", "SQL_VARBINARY": "varbinary(8000)",
	"SQL_VARCHAR": "varchar(8000)", "SQL_WCHAR": "nchar", "SQL_WLONGVARCHAR": "nvarchar(max)", "SQL_WVARCHAR": "nvarchar(4000)",
}

// intervals are those of TIMESTAMPADD and TIMESTAMPDIFF.
var intervals = map[string]string{
	"SQL_TSI_FRAC_SECOND": "nanosecond", "SQL_TSI_SECOND": "second", "SQL_TSI_MINUTE": "minute", "SQL_TSI_HOUR": "hour",
	"SQL_TSI_DAY": "day", "SQL_TSI_WEEK": "week", "SQL_TSI_MONTH": "month", "SQL_TSI_QUARTER": "quarter", "SQL_TSI_YEAR": "year",
}

// twinOf is the T-SQL for the function name of args. parens says whether there
// were parentheses.
func twinOf(name string, args []string, parens bool) (string, error) {
	count := func(min, max int) error {
		for _, a := range args {
			if a == "" {
				return fmt.Errorf("an argument of the ODBC function %s is empty", name)
			}
		}
		switch {
		case len(args) >= min && len(args) <= max:
			return nil
		case min == max:
			return fmt.Errorf("the ODBC function %s takes %s, not %d", name, []string{"no arguments", "1 argument", "2 arguments", "3 arguments", "4 arguments"}[min], len(args))
		}
		return fmt.Errorf("the ODBC function %s takes %d to %d arguments, not %d", name, min, max, len(args))
	}
	switch name {
	case "CURRENT_TIME", "CURRENT_TIMESTAMP":
		if err := count(0, 1); err != nil {
			return "", err
		}
		digits := "0"
		switch {
		case len(args) == 1 && (len(args[0]) != 1 || args[0] < "0" || args[0] > "7"):
			return "", fmt.Errorf("the ODBC function %s takes a precision from 0 to 7, not %s", name, args[0])
		case len(args) == 1:
			digits = args[0]
		case name == "CURRENT_TIMESTAMP":
			return "CURRENT_TIMESTAMP", nil
		}
		if name == "CURRENT_TIME" {
			return "CAST(SYSDATETIME() AS time(" + digits + "))", nil
		}
		return "CAST(SYSDATETIME() AS datetime2(" + digits + "))", nil
	case "CONVERT":
		if err := count(2, 2); err != nil {
			return "", err
		}
		t, ok := sqlTypes[strings.ToUpper(args[1])]
		if !ok {
			return "", fmt.Errorf("the ODBC function CONVERT cannot make %s: it is no type of ODBC that T-SQL has", args[1])
		}
		return "CONVERT(" + t + ", " + args[0] + ")", nil
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		if err := count(3, 3); err != nil {
			return "", err
		}
		part, ok := intervals[strings.ToUpper(args[0])]
		if !ok {
			return "", fmt.Errorf("the ODBC function %s has no interval %s", name, args[0])
		}
		return "DATE" + strings.TrimPrefix(name, "TIMESTAMP") + "(" + part + ", " + args[1] + ", " + args[2] + ")", nil
	case "EXTRACT":
		part, of := cutWord(strings.Join(args, ", "), "FROM")
		switch part = strings.ToLower(part); part {
		case "year", "month", "day", "hour", "minute", "second":
			if of != "" {
				return "DATEPART(" + part + ", " + of + ")", nil
			}
		}
		return "", fmt.Errorf("the ODBC function EXTRACT is written EXTRACT(YEAR FROM x), with YEAR, MONTH, DAY, HOUR, MINUTE or SECOND")
	case "POSITION":
		what, in := cutWord(strings.Join(args, ", "), "IN")
		if what == "" || in == "" {
			return "", fmt.Errorf("the ODBC function POSITION is written POSITION(x IN y)")
		}
		return "CHARINDEX(" + what + ", " + in + ")", nil
	}
	t, ok := twins[name]
	if !ok {
		return "", fmt.Errorf("the ODBC function %s has no equal in T-SQL that gostress knows", name)
	}
	if !parens && name != "CURRENT_DATE" {
		return "", fmt.Errorf("the ODBC function %s is written with parentheses", name)
	}
	if err := count(t.min, t.max); err != nil {
		return "", err
	}
	var sb strings.Builder
	for i := 0; i < len(t.form); i++ {
		switch c := t.form[i]; {
		case strings.HasPrefix(t.form[i:], "*)"), strings.HasPrefix(t.form[i:], "*,"):
			sb.WriteString(strings.Join(args, ", "))
		case c == '$':
			i++
			arg := args[t.form[i]-'1']
			if name == "MOD" && !isWord(arg) {
				arg = "(" + arg + ")"
			}
			sb.WriteString(arg)
		default:
			sb.WriteByte(c)
		}
	}
	return sb.String(), nil
}

// isWord says whether s is a number, name or variable, which no operator beside it tears
// apart.
func isWord(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) && s[i] != '.' {
			return false
		}
	}
	return true
}

// cutWord cuts s at the first word, in any case, that stands outside quotes and
// parentheses.
func cutWord(s, word string) (before, after string) {
	parens := 0
	for i := 0; i < len(s); {
		if n := quotedLen(s[i:]); n > 0 {
			i += n
			continue
		}
		n := 0
		for i+n < len(s) && nameByte(s[i+n]) {
			n++
		}
		if parens == 0 && strings.EqualFold(s[i:i+n], word) {
			return trimmed(s[:i]), trimmed(s[i+n:])
		}
		switch s[i] {
		case '(':
			parens++
		case ')':
			parens--
		}
		i += max(n, 1)
	}
	return trimmed(s), ""
}
