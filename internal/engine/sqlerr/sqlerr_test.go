package sqlerr

import (
	"errors"
	"fmt"
	"testing"
)

func TestError(t *testing.T) {
	t.Parallel()
	e := New(207, 16, 1, "Column '%s'.", "100%")
	if e.Text != "Column '100%'." {
		t.Errorf("the text is %q", e.Text)
	}
	if got, want := e.Error(), "Msg 207, Level 16, State 1: Column '100%'."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := e.At(3).Error(), "Msg 207, Level 16, State 1, Line 3: Column '100%'."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	e := InvalidColumn("x")
	a := e.At(3)
	if e.Line != 0 {
		t.Error("At changes its receiver")
	}
	if a.At(5).Line != 3 {
		t.Error("At moves an error that has a line")
	}
	if AtLine(nil, 3) != nil {
		t.Error("no error becomes one")
	}
	other := errors.New("other")
	if AtLine(other, 3) != other {
		t.Error("another error does not come back as it is")
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want int32
	}{
		{"none", nil, 0},
		{"another", errors.New("x"), 0},
		{"ours", DivideByZero(), 8134},
		{"wrapped", fmt.Errorf("in a plan: %w", WriteConflict()), 41302},
	}
	for _, tt := range tests {
		if got := Number(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
