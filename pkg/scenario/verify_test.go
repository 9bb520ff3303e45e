package scenario

import (
	"context"
	"strings"
	"testing"

	"gostress/pkg/driver"
	"gostress/pkg/script"
	"gostress/workloads"
)

// answers gives each check the number that the map has for its name, else the one it wants.
func answers(got map[string]int64, rules [][]any) func(string) ([][]any, *driver.ServerError, bool) {
	return func(text string) ([][]any, *driver.ServerError, bool) {
		if strings.Contains(text, "EXEC dbo.usp_ValidateIntegrity @id") {
			var found [][]any
			for _, r := range rules {
				if !strings.Contains(text, "N'"+r[1].(string)+"'") {
					continue
				}
				found = append(found, r)
				if r[3].(int64) > 0 {
					return found, &driver.ServerError{Number: rulesBroken, Class: 16, Message: "broken"}, true
				}
			}
			return found, nil, true
		}
		d, err := directives(text)
		if err != nil {
			return nil, nil, false
		}
		if n, ok := got[d.name]; ok {
			return [][]any{{n}}, nil, true
		}
		n, _ := integer(d.want)
		return [][]any{{n}}, nil, true
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	var good, bad [][]any
	for _, table := range formTables {
		good = append(good, []any{"domain", table + "_inmem", "a rule", int64(0)}, []any{"domain", table + "_ondisk", "a rule", int64(0)})
	}
	bad = append(bad, good...)
	bad = append(bad, []any{"domain", "Sales.SalesOrderHeader_inmem", "Status", int64(3)})
	counts := func(orders, lines int64) map[string]int64 {
		return map[string]int64{checkOrders: orders, checkLines: lines}
	}
	for _, c := range []struct {
		name    string
		row     []any
		form    string
		orders  int64
		got     map[string]int64
		rules   [][]any
		ok      bool
		formula string
	}{
		{"as expected", facts(installed()...), "inmem", 2000, counts(2000, 10000), good, true, FormulaOurs},
		{"an order short", facts(installed()...), "inmem", 2000, counts(1999, 9995), good, false, FormulaOurs},
		{"a line short", facts(installed()...), "inmem", 2000, counts(2000, 9999), good, false, FormulaOurs},
		{"expected number not known", facts(installed()...), "ondisk", -1, counts(700, 3500), good, true, FormulaOurs},
		{"not known, a line short", facts(installed()...), "ondisk", -1, counts(700, 3499), good, false, FormulaOurs},
		{"not known, originals lost", facts(installed()...), "ondisk", -1, counts(-1, -5), good, false, FormulaOurs},
		{"a rule is broken", facts(installed()...), "inmem", 0, counts(0, 0), bad, false, FormulaOurs},
		{"a rule of the other form is broken", facts(installed()...), "ondisk", 0, counts(0, 0), bad, true, FormulaOurs},
		{"Microsoft's sample", facts(sample()...), "inmem", 20, counts(20, 100), nil, true, FormulaMicrosoft},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &fake{t: t, row: c.row, answer: answers(c.got, c.rules)}
			v, err := Verify(context.Background(), s, workload(t), VerifyOptions{Form: c.form, Orders: c.orders})
			if err != nil {
				t.Fatal(err)
			}
			if v.OK() != c.ok || v.Formula != c.formula || v.Orders != c.got[checkOrders] || v.Lines != c.got[checkLines] {
				t.Errorf("OK %v, %+v", v.OK(), v)
			}
			formulas := 0
			for _, ch := range v.Checks {
				if strings.Contains(ch.Name, "SubTotal") {
					formulas++
				}
			}
			if formulas != 1 {
				t.Errorf("%d checks of SubTotal", formulas)
			}
			hint := strings.Contains(strings.Join(s.sent, ""), "AS h WITH (SNAPSHOT)")
			if hint != (c.form == workloads.Inmem) {
				t.Errorf("hint SNAPSHOT: %v", hint)
			}
		})
	}
}

func TestVerifyNeedsTheInstallation(t *testing.T) {
	t.Parallel()
	for name, row := range map[string][]any{
		"nothing":         facts(),
		"the other half":  facts(set(colMarked, int64(1)), set(colOndisk, int64(1)), set(colReset, int64(1))),
		"somebody else's": facts(set(colInmem, int64(1))),
	} {
		s := &fake{t: t, row: row}
		if _, err := Verify(context.Background(), s, workload(t), VerifyOptions{Form: "inmem"}); err == nil || !strings.Contains(err.Error(), "not installed") {
			t.Errorf("%s: error %v", name, err)
		}
		if len(s.changes()) > 0 {
			t.Errorf("%s: %d texts sent", name, len(s.changes()))
		}
	}
	if _, err := Verify(context.Background(), &fake{t: t, row: facts(installed()...)}, workload(t), VerifyOptions{Form: "both"}); err == nil {
		t.Error("tables named both")
	}
}

// TestVerifyScript: every batch says what it checks, and its want is understood.
func TestVerifyScript(t *testing.T) {
	t.Parallel()
	batches, err := script.Split("verify.sql", workload(t).Verify.Text)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, b := range batches {
		d, err := directives(b.Text)
		if err != nil {
			t.Errorf("line %d: %v", b.Line, err)
		}
		if names[d.name] {
			t.Errorf("line %d: %q comes twice", b.Line, d.name)
		}
		names[d.name] = true
		if d.part != "" && d.part != "ours" && d.part != "microsoft" {
			t.Errorf("line %d: part %q", b.Line, d.part)
		}
	}
	for _, want := range []string{checkOrders, checkLines} {
		if !names[want] {
			t.Errorf("no check %q", want)
		}
	}
}
