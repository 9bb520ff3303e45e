package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gostress/pkg/driver"
	"gostress/pkg/script"
	"gostress/workloads"
)

// Formulas that a procedure may compute SubTotal with.
const (
	FormulaOurs      = "SubTotal = SUM(ROUND(OrderQty * UnitPrice * (1 - UnitPriceDiscount), 4))"
	FormulaMicrosoft = "SubTotal = SUM(UnitPrice - UnitPriceDiscount), as Microsoft's sample computes it"
)

// VerifyOptions say what is expected.
type VerifyOptions struct {
	// Form is workloads.Inmem or workloads.Ondisk.
	Form string
	// Orders is the number of orders expected above the originals; negative when it is not known,
	// and then only each order's own lines are held to it.
	Orders int64
}

// Verification is what Verify found.
type Verification struct {
	Database string `json:"database"`
	Form     string `json:"form"`
	// Formula is the formula that SubTotal was checked against.
	Formula string `json:"formula"`
	// Orders and Lines are what is above the originals.
	Orders int64   `json:"orders"`
	Lines  int64   `json:"lines"`
	Checks []Check `json:"checks"`
}

// Check is one thing that must hold.
type Check struct {
	Name string `json:"name"`
	Want int64  `json:"want"`
	Got  int64  `json:"got"`
	OK   bool   `json:"ok"`
}

// OK says that every check holds.
func (v Verification) OK() bool {
	for _, c := range v.Checks {
		if !c.OK {
			return false
		}
	}
	return len(v.Checks) > 0
}

// Names of the checks whose results the Verification carries too.
const (
	checkOrders = "orders above the originals"
	checkLines  = "order lines above the originals"
)

// Verify checks the tables of one form against what must hold of them. It changes nothing. The
// error is for a check that could not be made, not for one that fails.
func Verify(ctx context.Context, s driver.Session, w workloads.Workload, o VerifyOptions) (Verification, error) {
	f, err := ReadFacts(ctx, s)
	if err != nil {
		return Verification{}, err
	}
	if !w.HasPart(o.Form) {
		return Verification{}, fmt.Errorf("workload %s has no tables %q", w.Name, o.Form)
	}
	if (o.Form == workloads.Inmem && !f.HasInmem) || (o.Form == workloads.Ondisk && !f.HasOndisk) || (!f.Marked && !f.Sample) {
		return Verification{}, fmt.Errorf("database %s: the %s half of workload %s is not installed there; gostress workload install %s installs it", f.Database, o.Form, w.Name, w.Name)
	}
	v := Verification{Database: f.Database, Form: o.Form, Formula: FormulaOurs}
	who := "ours"
	if f.Sample {
		v.Formula, who = FormulaMicrosoft, "microsoft"
	}
	batches, err := script.Split(w.Verify.File, workloads.Expand(w.Verify.Text, formVars(o.Form, f)))
	if err != nil {
		return v, err
	}
	v.Orders = -1
	for _, b := range batches {
		d, err := directives(b.Text)
		if err != nil {
			return v, fmt.Errorf("%s, line %d: %w", w.Verify.File, b.Line, err)
		}
		if d.part != "" && d.part != who {
			continue
		}
		got, err := scalar(ctx, s, b.Text)
		if err != nil {
			return v, fmt.Errorf("cannot check %q: %w", d.name, err)
		}
		c := Check{Name: d.name, Got: got}
		switch d.want {
		case "$(gs_orders)":
			c.Want = o.Orders
			if o.Orders < 0 {
				c.Want = max(got, 0)
			}
			v.Orders = got
		case "$(gs_lines)":
			c.Want = 5 * v.Orders
			if o.Orders >= 0 {
				c.Want = 5 * o.Orders
			}
			v.Lines = got
		default:
			if c.Want, err = strconv.ParseInt(d.want, 10, 64); err != nil {
				return v, fmt.Errorf("%s, line %d: want %q is not a number", w.Verify.File, b.Line, d.want)
			}
		}
		c.OK = c.Got == c.Want
		v.Checks = append(v.Checks, c)
	}
	if f.Marked {
		broken, err := brokenRules(ctx, s, o.Form)
		if err != nil {
			return v, err
		}
		v.Checks = append(v.Checks, Check{Name: "rules about the data that are broken (dbo.usp_ValidateIntegrity)", Got: broken, OK: broken == 0})
	}
	return v, nil
}

// rulesBroken is the error that dbo.usp_ValidateIntegrity ends with when a rule is broken.
const rulesBroken = 50160

// formTables are the tables of a form, without its suffix.
var formTables = []string{"Production.Product", "Sales.SpecialOffer", "Sales.SpecialOfferProduct", "Sales.SalesOrderHeader", "Sales.SalesOrderDetail"}

// brokenRules counts the rules of a form's tables that do not hold. It asks table by table, so
// that the other form's, which may be large, are not read.
func brokenRules(ctx context.Context, s driver.Session, form string) (int64, error) {
	broken := int64(0)
	for _, table := range formTables {
		name := table + "_" + form
		c := &collector{}
		err := do(ctx, s, "DECLARE @id int = OBJECT_ID(N'"+name+"', N'U'); EXEC dbo.usp_ValidateIntegrity @id;", c)
		var bad driver.ServerError
		if err != nil && !(errors.As(err, &bad) && bad.Number == rulesBroken) {
			return 0, fmt.Errorf("cannot check the rules about the data of %s: %w", name, err)
		}
		rules := 0
		for _, row := range c.rows {
			if len(row) != 4 {
				return 0, fmt.Errorf("cannot check the rules about the data of %s: %d columns came where 4 are expected", name, len(row))
			}
			if !strings.EqualFold(str(row[1]), name) {
				continue
			}
			rules++
			n, err := integer(row[3])
			if err != nil {
				return 0, fmt.Errorf("cannot check the rules about the data of %s: %w", name, err)
			}
			if n > 0 {
				broken++
			}
		}
		if rules == 0 {
			return 0, fmt.Errorf("cannot check the rules about the data of %s: there are none", name)
		}
	}
	return broken, nil
}

// directive is what the comments of a verify batch say.
type directive struct{ name, want, part string }

func directives(text string) (directive, error) {
	var d directive
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "--"), ":")
		if !ok || !strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "check":
			d.name = value
		case "want":
			d.want = value
		case "part":
			d.part = value
		}
	}
	if d.name == "" || d.want == "" {
		return d, errors.New("the batch does not say what it checks and what it wants")
	}
	return d, nil
}

// Counts are the rows of the two order tables of a form.
type Counts struct{ Orders, Lines int64 }

// Count counts the rows of the order tables of a form, so that what a run added can be told where
// no reset came before it.
func Count(ctx context.Context, s driver.Session, form string) (Counts, error) {
	var c Counts
	var err error
	if c.Orders, err = scalar(ctx, s, "SELECT COUNT_BIG(*) FROM Sales.SalesOrderHeader_"+form+";"); err != nil {
		return Counts{}, fmt.Errorf("cannot count the orders of Sales.SalesOrderHeader_%s: %w", form, err)
	}
	if c.Lines, err = scalar(ctx, s, "SELECT COUNT_BIG(*) FROM Sales.SalesOrderDetail_"+form+";"); err != nil {
		return Counts{}, fmt.Errorf("cannot count the lines of Sales.SalesOrderDetail_%s: %w", form, err)
	}
	return c, nil
}
