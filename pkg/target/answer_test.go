package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gostress/internal/tds"
	"gostress/pkg/driver"
)

const (
	more      = tds.DoneMore
	isError   = tds.DoneError
	cmdSelect = 0xC1
	cmdInsert = 0xC3
)

func messages(n int) []byte {
	var b []byte
	for i := range n {
		b = append(b, info(0, 0, fmt.Sprintf("line %d", i))...)
	}
	return b
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("message 0/0 line %d", i)
	}
	return out
}

func TestAnswers(t *testing.T) { overWires(t, testAnswers) }

func testAnswers(t *testing.T, w Wire) {
	errorOf := func(number int32, class uint8, text string) driver.ServerError {
		return driver.ServerError{Number: number, State: 1, Class: class, Line: 3, Server: "srv", Message: text}
	}
	tests := map[string]struct {
		send [][]byte
		want driver.Outcome
		log  []string
	}{
		"nothing": {
			send: [][]byte{done(0)},
			log:  []string{"done"},
		},
		"one row": {
			send: [][]byte{intColumns(1), intRow(7), doneCount(0, cmdSelect, 1)},
			want: driver.Outcome{Rows: 1, ResultSets: 1},
			log:  []string{"columns c1", "7", "done 1"},
		},
		"no row": {
			send: [][]byte{intColumns(2), doneCount(0, cmdSelect, 0)},
			want: driver.Outcome{ResultSets: 1},
			log:  []string{"columns c1 c2", "done 0"},
		},
		"rows under nocount": {
			send: [][]byte{intColumns(1), intRow(1), intRow(2), done(0)},
			want: driver.Outcome{Rows: 2, ResultSets: 1},
			log:  []string{"columns c1", "1", "2", "done"},
		},
		"result sets of different widths": {
			send: [][]byte{
				intColumns(3), intRow(1, 2, 3), doneCount(more, cmdSelect, 1),
				intColumns(1), intRow(4), intRow(5), doneCount(more, cmdSelect, 2),
				intColumns(4), intRow(6, 7, 8, 9), doneCount(0, cmdSelect, 1),
			},
			want: driver.Outcome{Rows: 4, ResultSets: 3},
			log:  []string{"columns c1 c2 c3", "1 2 3", "done 1", "columns c1", "4", "5", "done 2", "columns c1 c2 c3 c4", "6 7 8 9", "done 1"},
		},
		"inserts between result sets": {
			send: [][]byte{
				doneCount(more, cmdInsert, 3),
				intColumns(1), intRow(1), doneCount(more, cmdSelect, 1),
				doneCount(more, cmdInsert, 4), doneCount(more, cmdInsert, 5),
				intColumns(1), intRow(2), doneCount(0, cmdSelect, 1),
			},
			want: driver.Outcome{Rows: 2, ResultSets: 2, Affected: 12},
			log:  []string{"done 3", "columns c1", "1", "done 1", "done 4", "done 5", "columns c1", "2", "done 1"},
		},
		"insert with output": {
			send: [][]byte{intColumns(1), intRow(1), intRow(2), doneCount(0, cmdInsert, 2)},
			want: driver.Outcome{Rows: 2, ResultSets: 1},
			log:  []string{"columns c1", "1", "2", "done 2"},
		},
		"prints and errors in order": {
			send: [][]byte{
				info(0, 0, "a"), serverError(50000, 16, "b"), done(more | isError), info(50000, 10, "c"), serverError(8134, 16, "d"), done(more | isError), info(0, 0, "e"), done(0),
			},
			want: driver.Outcome{Errors: []driver.ServerError{errorOf(50000, 16, "b"), errorOf(8134, 16, "d")}},
			log:  []string{"message 0/0 a", "message 50000/16 b", "done", "message 50000/10 c", "message 8134/16 d", "done", "message 0/0 e", "done"},
		},
		"error after the first row": {
			send: [][]byte{intColumns(1), intRow(1), serverError(8134, 16, "divide"), doneCount(isError, cmdSelect, 1)},
			want: driver.Outcome{Rows: 1, ResultSets: 1, Errors: []driver.ServerError{errorOf(8134, 16, "divide")}},
			log:  []string{"columns c1", "1", "message 8134/16 divide", "done 1"},
		},
		"several errors before one done": {
			send: [][]byte{serverError(1, 16, "x"), serverError(2, 15, "y"), serverError(3, 14, "z"), done(isError)},
			want: driver.Outcome{Errors: []driver.ServerError{errorOf(1, 16, "x"), errorOf(2, 15, "y"), errorOf(3, 14, "z")}},
			log:  []string{"message 1/16 x", "message 2/15 y", "message 3/14 z", "done"},
		},
		"procedures": {
			send: [][]byte{
				intColumns(1), intRow(1), doneToken(tds.TokenDoneInProc, more), tds.AppendReturnStatus(nil, 0), doneToken(tds.TokenDoneProc, more),
				tds.AppendReturnStatus(nil, -6), doneToken(tds.TokenDoneProc, 0),
			},
			want: driver.Outcome{Rows: 1, ResultSets: 1},
			log:  []string{"columns c1", "1", "done", "done", "done"},
		},
		"more messages than the queue holds": {
			send: [][]byte{messages(100), done(0)},
			log:  append(numbered(100), "done"),
		},
		"more messages after a result set than the queue holds": {
			send: [][]byte{intColumns(1), intRow(1), done(more), messages(100), done(0)},
			want: driver.Outcome{Rows: 1, ResultSets: 1},
			log:  slices.Concat([]string{"columns c1", "1", "done"}, numbered(100), []string{"done"}),
		},
		"more messages between rows than the queue holds": {
			send: [][]byte{intColumns(1), intRow(1), messages(100), intRow(2), done(0)},
			want: driver.Outcome{Rows: 2, ResultSets: 1},
			log:  slices.Concat([]string{"columns c1", "1", "2"}, numbered(100), []string{"done"}),
		},
		"many statements": {
			send: [][]byte{slices.Concat(slices.Repeat([][]byte{doneCount(more, cmdInsert, 1)}, 300)...), done(0)},
			want: driver.Outcome{Affected: 300},
			log:  append(slices.Repeat([]string{"done 1"}, 300), "done"),
		},
		"a message that looks like a fault of the log": {
			send: [][]byte{info(0, 0, "BeginRead failed"), intColumns(1), intRow(1), done(0)},
			want: driver.Outcome{Rows: 1, ResultSets: 1},
			log:  []string{"message 0/0 BeginRead failed", "columns c1", "1", "done"},
		},
		"assignment has no count of its own": {
			send: [][]byte{doneCount(more, cmdSelect, 1), done(0)},
			log:  []string{"done", "done"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := len(tt.log); w == WireTDS && strings.HasPrefix(name, "more messages between rows") {
				// go-mssqldb tells messages that come between rows after them.
				tt.log = slices.Concat(tt.log[:2], tt.log[3:n-1], []string{"2", "done"})
			}
			s := answer(t, w, tt.send...)
			var l log
			out, err := do(t, s, context.Background(), text("select 1"), &l)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, out); d != "" {
				t.Errorf("outcome (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.log, l.lines); d != "" {
				t.Errorf("sink (-want +got):\n%s", d)
			}
			if out, err := do(t, s, context.Background(), text("again"), nil); err != nil || out.Rows != 0 {
				t.Errorf("the next request: %+v, %v", out, err)
			}

			s = answer(t, w, tt.send...)
			out, err = do(t, s, context.Background(), text("select 1"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, out); d != "" {
				t.Errorf("outcome without a sink (-want +got):\n%s", d)
			}
		})
	}
}
