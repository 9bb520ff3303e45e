package compare

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text writes the comparison as benchstat does: of each input the median and how far its interval
// reaches, in per cent, and from the second on the difference from the first, or ~ where there is
// none to be seen.
func (c Comparison) Text(w io.Writer) error {
	rows := [][]string{{""}}
	for i, name := range c.Names {
		rows[0] = append(rows[0], name)
		if i > 0 {
			rows[0] = append(rows[0], "vs first", "")
		}
	}
	for _, r := range c.Rows {
		cells := []string{r.Figure + unit(r.Unit)}
		for i, cell := range r.Cells {
			cells = append(cells, cell.value(r.Unit))
			if i > 0 {
				cells = append(cells, cell.delta(r.Cells[0], r.Unit), cell.evidence(r.Cells[0]))
			}
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString(cell + pad)
			case strings.HasPrefix(cell, "("):
				line.WriteString(" " + cell + pad)
			default:
				line.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func unit(u string) string {
	switch u {
	case "":
		return ""
	case "us":
		return ", ms"
	}
	return ", " + u
}

func (c Cell) value(unit string) string {
	if c.N == 0 {
		return "-"
	}
	scale := 1.0
	if unit == "us" {
		scale = 1000
	}
	text := number(c.Median/scale, unit)
	switch {
	case c.N == 1:
	case math.IsInf(c.Lo, 0) || math.IsInf(c.Hi, 0):
		text += " ± ∞"
	case c.Median != 0:
		text += fmt.Sprintf(" ±%3.0f%%", 100*math.Max(c.Hi-c.Median, c.Median-c.Lo)/math.Abs(c.Median))
	}
	return text
}

// delta is the difference from the base; of single runs, which say nothing of chance, the ratio alone.
func (c Cell) delta(base Cell, unit string) string {
	switch {
	case c.N == 0 || base.N == 0:
		return ""
	case c.N == 1 || base.N == 1:
		if math.IsNaN(c.Ratio) {
			return ""
		}
		return fmt.Sprintf("x%.3f", c.Ratio)
	case !c.Differs:
		return "~"
	case math.IsNaN(c.Ratio):
		return "+" + number(c.Median, unit)
	}
	return fmt.Sprintf("%+.2f%%", (c.Ratio-1)*100)
}

func (c Cell) evidence(base Cell) string {
	if c.N < 2 || base.N < 2 {
		return ""
	}
	if c.N == base.N {
		return fmt.Sprintf("(p=%.3f n=%d)", c.P, c.N)
	}
	return fmt.Sprintf("(p=%.3f n=%d+%d)", c.P, base.N, c.N)
}

// number has four significant figures, and no exponent; a count has no fraction but that of a median
// between two.
func number(v float64, unit string) string {
	if unit == "" {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	digits := 3 - int(math.Floor(math.Log10(math.Max(math.Abs(v), 1e-3))))
	return fmt.Sprintf("%.*f", min(max(digits, 0), 6), v)
}
