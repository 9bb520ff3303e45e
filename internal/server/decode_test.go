package server

import (
	"bytes"
	"testing"

	"gostress/internal/engine/types"
	"gostress/internal/tds"
)

// TestDecodeAndEncode reads values as a client sends them and writes them back.
func TestDecodeAndEncode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		info tds.TypeInfo
		data []byte
		bad  bool
	}{
		{name: "int1", info: tds.TypeInfo{ID: tds.TypeIntN, Size: 1}, data: []byte{200}},
		{name: "int8", info: tds.TypeInfo{ID: tds.TypeIntN, Size: 8}, data: []byte{1, 2, 3, 4, 5, 6, 7, 0x88}},
		{name: "bit", info: tds.TypeInfo{ID: tds.TypeBitN, Size: 1}, data: []byte{1}},
		{name: "real", info: tds.TypeInfo{ID: tds.TypeFloatN, Size: 4}, data: []byte{0, 0, 0x80, 0x3F}},
		{name: "not a number", info: tds.TypeInfo{ID: tds.TypeFloatN, Size: 8}, data: []byte{0, 0, 0, 0, 0, 0, 0xF8, 0x7F}, bad: true},
		{name: "infinite real", info: tds.TypeInfo{ID: tds.TypeFloatN, Size: 4}, data: []byte{0, 0, 0x80, 0x7F}, bad: true},
		{name: "money", info: tds.TypeInfo{ID: tds.TypeMoneyN, Size: 8}, data: []byte{0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4}},
		{name: "smallmoney", info: tds.TypeInfo{ID: tds.TypeMoneyN, Size: 4}, data: []byte{1, 2, 3, 0x84}},
		{name: "decimal(9,2)", info: tds.TypeInfo{ID: tds.TypeDecimalN, Size: 5, Prec: 9, Scale: 2}, data: []byte{0, 1, 2, 3, 4}},
		{name: "decimal(38,0)", info: tds.TypeInfo{ID: tds.TypeDecimalN, Size: 17, Prec: 38},
			data: append([]byte{1}, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x22, 0x8A, 0x09, 0x7A, 0xC4, 0x86, 0x5A, 0xA8, 0x4C, 0x3B, 0x4B)},
		{name: "decimal beyond 38 digits", info: tds.TypeInfo{ID: tds.TypeDecimalN, Size: 17, Prec: 38},
			data: append([]byte{1}, 0, 0, 0, 0, 0x40, 0x22, 0x8A, 0x09, 0x7A, 0xC4, 0x86, 0x5A, 0xA8, 0x4C, 0x3B, 0x4B), bad: true},
		{name: "date", info: tds.TypeInfo{ID: tds.TypeDateN}, data: []byte{0xDA, 0xB9, 0x37}},
		{name: "date after 9999", info: tds.TypeInfo{ID: tds.TypeDateN}, data: []byte{0xDB, 0xB9, 0x37}, bad: true},
		{name: "time(0)", info: tds.TypeInfo{ID: tds.TypeTimeN}, data: []byte{0x7F, 0x51, 0x01}},
		{name: "time(0) of a day", info: tds.TypeInfo{ID: tds.TypeTimeN}, data: []byte{0x80, 0x51, 0x01}, bad: true},
		{name: "time(4)", info: tds.TypeInfo{ID: tds.TypeTimeN, Scale: 4}, data: []byte{1, 2, 3, 4}},
		{name: "datetime2(7)", info: tds.TypeInfo{ID: tds.TypeDateTime2N, Scale: 7}, data: []byte{1, 2, 3, 4, 5, 1, 2, 3}},
		{name: "datetime2(3)", info: tds.TypeInfo{ID: tds.TypeDateTime2N, Scale: 3}, data: []byte{1, 2, 3, 4, 1, 2, 3}},
		{name: "datetimeoffset(7)", info: tds.TypeInfo{ID: tds.TypeDateTimeOffN, Scale: 7}, data: []byte{1, 2, 3, 4, 5, 1, 2, 3, 0xB8, 0xFC}},
		{name: "datetimeoffset of 15 hours", info: tds.TypeInfo{ID: tds.TypeDateTimeOffN, Scale: 7}, data: []byte{1, 2, 3, 4, 5, 1, 2, 3, 0x84, 3}, bad: true},
		{name: "datetime", info: tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 8}, data: []byte{0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 0}},
		{name: "datetime before 1753", info: tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 8}, data: []byte{0, 0, 0, 0x80, 1, 2, 3, 0}, bad: true},
		{name: "smalldatetime", info: tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 4}, data: []byte{1, 2, 0x9F, 5}},
		{name: "smalldatetime with 24 hours", info: tds.TypeInfo{ID: tds.TypeDateTimeN, Size: 4}, data: []byte{1, 2, 0xA0, 5}, bad: true},
		{name: "uniqueidentifier", info: tds.TypeInfo{ID: tds.TypeGUID, Size: 16}, data: []byte("0123456789abcdef")},
		{name: "nvarchar", info: tds.TypeInfo{ID: tds.TypeNVarChar, Size: 20}, data: []byte{'a', 0, 0x3D, 0xD8, 0x00, 0xDE}},
		{name: "nvarchar of an odd length", info: tds.TypeInfo{ID: tds.TypeNVarChar, Size: 20}, data: []byte{'a', 0, 0}, bad: true},
		{name: "varchar", info: tds.TypeInfo{ID: tds.TypeVarChar, Size: 20}, data: []byte{'a', 0x80, 0xFC}},
		{name: "varbinary(max)", info: tds.TypeInfo{ID: tds.TypeVarBinary, Size: tds.SizeMax}, data: []byte{1, 2, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			typ, err := typeOf(&tc.info)
			if err != nil {
				t.Fatal(err)
			}
			v, ok := valueOf(&tc.info, typ, tds.Raw{Data: tc.data})
			if ok == tc.bad {
				t.Fatalf("value %v, valid %v", v, ok)
			}
			if tc.bad {
				return
			}
			enc := newEncoder(typ, tds.V74)
			b, err := enc.append(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			info := enc.info
			info.Size = max(info.Size, len(b)-1)
			if tc.info.Size == tds.SizeMax {
				info.Size = tds.SizeMax
			}
			d := tds.NewDecoder(b)
			if back := d.ColumnValue(&info); d.Err() != nil || !bytes.Equal(back.Data, tc.data) {
				t.Fatalf("%x came back as %x, %v", tc.data, back.Data, d.Err())
			}
		})
	}
	null, ok := valueOf(&tds.TypeInfo{ID: tds.TypeIntN, Size: 4}, types.Int, tds.Raw{Null: true})
	if !ok || !null.IsNull() {
		t.Error("NULL")
	}
	if _, err := typeOf(&tds.TypeInfo{ID: tds.TypeXML, Size: tds.SizeMax}); err == nil {
		t.Error("xml is not refused")
	}
}
