package live

import (
	"fmt"
	"strings"

	"gostress/pkg/result"
)

// Style is what a terminal can show.
type Style struct {
	// Colour lets the panel have colours.
	Colour bool
	// ASCII keeps it to characters that every terminal has.
	ASCII bool
}

// look is how a piece of text is shown where there are colours.
type look uint8

const (
	none look = iota
	strong
	dim
	bad
	low
	high
)

// sgr are the parameters of a look's escape sequence (ECMA-48, SGR). The eight colours alone: what
// they look like is the terminal's own choice, which suits its background.
var sgr = [...]string{none: "", strong: "1", dim: "2", bad: "31", low: "32", high: "33"}

type piece struct {
	text string
	look look
}

// row is a line of the panel.
type row []piece

// sizes of a panel where the terminal's is not known, and the most it takes of one.
const (
	assumedWidth  = 80
	assumedHeight = 24
	mostText      = 12
	mostGraph     = 5
)

// Panel renders the state of a run for a terminal of so many columns and rows, 0 for unknown. No line
// is wider than the terminal less one column, as some wrap behind the last one; there are fewer lines
// than the terminal has rows, but one at least. Lines have no control characters but those that set colours.
func Panel(p result.Progress, h *History, width, height int, style Style) []string {
	if width <= 0 {
		width = assumedWidth
	}
	if height <= 0 {
		height = assumedHeight
	}
	width, height = max(width-1, 1), max(height-1, 1)
	var rows []row
	for _, group := range groups(p, width) {
		rows = append(rows, flow(group, width)...)
	}
	rows = rows[:min(len(rows), height, mostText)]
	// A graph of the panel's own size at most: the log needs room too.
	if room := min(height-len(rows), height/2, mostGraph); !p.Connecting {
		rows = append(rows, graph(h, width, room, style)...)
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.render(style)
	}
	return out
}

// groups are the panel's texts, each group on lines of its own.
func groups(p result.Progress, width int) [][]piece {
	phase := piece{string(p.Phase), strong}
	if p.Stage != "" {
		phase.text += ", stage " + plain(p.Stage)
	}
	connections := "connections " + count(int64(p.Connections))
	if p.Connections < p.ConnectionsAsked {
		connections += " of " + count(int64(p.ConnectionsAsked))
	}
	if p.Connecting {
		return [][]piece{{phase, {connections, none}}}
	}
	head := []piece{phase, {clock(p.Elapsed), none}}
	if p.Left >= 0 {
		head = append(head, piece{"left " + clock(p.Left), none})
	}
	done := "done " + count(p.Done)
	if p.Planned > 0 {
		done += "/" + count(p.Planned) + fmt.Sprintf(" %d%%", int(100*float64(p.Done)/float64(p.Planned)))
	}
	head = append(head, piece{done, none})
	speed := []piece{{rate(p.BatchesPerS) + " batches/s", strong}, {"p50 " + took(p.P50), low}, {"p99 " + took(p.P99), high}}
	state := []piece{{connections, none}, {"batches " + count(p.Batches), none}}
	if p.Failed > 0 {
		state = append(state, piece{"failed " + count(p.Failed), bad})
	}
	if p.Late > 0 {
		state = append(state, piece{"late " + count(p.Late), bad})
	}
	if p.SkippedLate > 0 {
		state = append(state, piece{"skipped " + count(p.SkippedLate), bad})
	}
	return [][]piece{head, speed, state, errorPieces(p, width)}
}

// errorPieces are the errors by number, as many as have room on two lines.
func errorPieces(p result.Progress, width int) []piece {
	if p.Errors == 0 {
		return []piece{{"errors 0", none}}
	}
	out := []piece{{"errors " + count(p.Errors), bad}}
	all := byNumber(p.ErrorsByNumber)
	for i, e := range all {
		next := append(out[:len(out):len(out)], piece{fmt.Sprintf("%d: %s", e.number, count(e.times)), bad})
		rest := fmt.Sprintf("and %d more", len(all)-i)
		if len(flow(append(next[:len(next):len(next)], piece{rest, bad}), width)) > 2 && (i+1 < len(all) || len(flow(next, width)) > 2) {
			return append(out, piece{rest, bad})
		}
		out = next
	}
	return out
}

// flow sets pieces one after the other, two blanks apart, on as many lines as they need.
func flow(pieces []piece, width int) []row {
	var rows []row
	at := 0
	for _, p := range pieces {
		p.text = cut(p.text, width)
		n := wide(p.text)
		if len(rows) == 0 || at+2+n > width {
			rows = append(rows, row{p})
			at = n
			continue
		}
		last := &rows[len(rows)-1]
		*last = append(*last, piece{"  ", none}, p)
		at += 2 + n
	}
	return rows
}

func (r row) render(style Style) string {
	var b strings.Builder
	for _, p := range r {
		if style.Colour && p.look != none {
			b.WriteString("\x1b[" + sgr[p.look] + "m" + p.text + "\x1b[0m")
		} else {
			b.WriteString(p.text)
		}
	}
	if style.Colour {
		return b.String()
	}
	return strings.TrimRight(b.String(), " ")
}
