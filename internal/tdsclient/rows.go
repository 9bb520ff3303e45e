package tdsclient

import (
	"math"

	"gostress/internal/tds"
)

// rows reads a row, or without a sink as many as are there.
func (c *Conn) rows(id tds.TokenID, out *Outcome, sink Sink) error {
	m := c.cur
	if m == nil || len(m.columns) == 0 {
		return protocol("a row without columns")
	}
	if sink == nil {
		if n, rows := m.skip.Rows(c.in.window()); rows > 0 {
			c.in.r += n
			out.Rows += int64(rows)
			return nil
		}
	}
	// A row that is not there as a whole, or one whose values are wanted.
	c.in.r++
	var bitmap []byte
	if id == tds.TokenNBCRow {
		b, err := c.in.take((len(m.columns) + 7) / 8)
		if err != nil {
			return err
		}
		var small [16]byte
		bitmap = append(small[:0], b...)
	}
	if cap(c.row) < len(m.columns) {
		c.row = make([]any, len(m.columns))
	}
	row := c.row[:len(m.columns)]
	for i := range m.columns {
		row[i] = nil
		if bitmap != nil && bitmap[i/8]&(1<<(i%8)) != 0 {
			continue
		}
		v, err := c.value(&m.columns[i].Type, sink != nil)
		if err != nil {
			return err
		}
		row[i] = v
	}
	out.Rows++
	if sink == nil {
		return nil
	}
	err := sink.Row(row)
	clear(row)
	if err != nil {
		return &SinkError{err}
	}
	return nil
}

// value reads a value of a row; without build it is passed over, however large.
func (c *Conn) value(t *tds.TypeInfo, build bool) (any, error) {
	in := &c.in
	size := uint64(t.Size)
	null := false
	switch t.Length() {
	case tds.LengthFixed:
	case tds.LengthByte:
		n, err := in.byte()
		if err != nil {
			return nil, err
		}
		if n != 0 && !t.Fits(int(n)) {
			return nil, protocol("a %s of %d bytes", t.Name(), n)
		}
		size, null = uint64(n), n == 0
	case tds.LengthByteFF:
		n, err := in.byte()
		if err != nil {
			return nil, err
		}
		size, null = uint64(n), n == 0xFF
	case tds.LengthShort:
		n, err := in.uint16()
		if err != nil {
			return nil, err
		}
		if null = n == 0xFFFF; !null && int(n) > t.Size {
			return nil, protocol("a %s of %d bytes", t.Name(), n)
		}
		size = uint64(n)
	case tds.LengthVariant:
		n, err := in.uint32()
		if err != nil {
			return nil, err
		}
		if n > tds.MaxVariant {
			return nil, protocol("a sql_variant of %d bytes", n)
		}
		size, null = uint64(n), n == 0
	case tds.LengthLong:
		n, err := in.byte()
		if err != nil || n == 0 {
			return nil, err
		}
		if err := in.skip(uint64(n) + 8); err != nil {
			return nil, err
		}
		l, err := in.uint32()
		if err != nil {
			return nil, err
		}
		if null = l == math.MaxUint32; !null && l > math.MaxInt32 {
			return nil, protocol("a %s of %d bytes", t.Name(), l)
		}
		size = uint64(l)
	case tds.LengthPLP:
		return c.chunks(t, build)
	default:
		return nil, protocol("a column of type 0x%02X", byte(t.ID))
	}
	if null {
		return nil, nil
	}
	if !build {
		return nil, in.skip(size)
	}
	b, err := in.take(int(size))
	if err != nil {
		return nil, err
	}
	return goValue(t, b)
}

// chunks reads a MAX value, which comes in pieces.
func (c *Conn) chunks(t *tds.TypeInfo, build bool) (any, error) {
	total, err := c.in.uint64()
	if err != nil || total == tds.PLPNull {
		return nil, err
	}
	joined, sum := c.joined[:0], uint64(0)
	for {
		n, err := c.in.uint32()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		if sum += uint64(n); sum > math.MaxInt32 || total != tds.PLPUnknown && sum > total {
			return nil, protocol("a %s of more than %d bytes", t.Name(), min(total, math.MaxInt32))
		}
		if !build {
			if err := c.in.skip(uint64(n)); err != nil {
				return nil, err
			}
			continue
		}
		for left := int(n); left > 0; {
			if c.in.r == c.in.end {
				if err := c.in.more(); err != nil {
					return nil, err
				}
			}
			b := c.in.window()
			b = b[:min(len(b), left)]
			joined = append(joined, b...)
			c.in.r += len(b)
			left -= len(b)
		}
	}
	if total != tds.PLPUnknown && sum != total {
		return nil, protocol("a %s of %d bytes where %d were announced", t.Name(), sum, total)
	}
	if !build {
		return nil, nil
	}
	v, err := goValue(t, joined)
	if c.joined = joined[:0]; cap(joined) > largeBuffer {
		c.joined = nil
	}
	return v, err
}
