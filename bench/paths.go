package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/microsoft/go-mssqldb" // registers "sqlserver"

	"gostress/internal/tds"
	"gostress/internal/tdsclient"
	"gostress/pkg/driver"
	"gostress/pkg/target"
	"gostress/workloads"
)

const secret = "bench-1"

// request is one of the requests that are measured.
type request struct {
	name string
	rows int64
	make func() *driver.Request // of the i-th call; may be the same each time
	sql  string                 // for database/sql, if it can send it
}

func requests() ([]request, error) {
	var text string
	for _, w := range workloads.All() {
		for _, r := range w.Runs {
			if w.Name == "inmem-oltp" && r.Name == "inmem" {
				text = r.Batch
			}
		}
	}
	if text == "" {
		return nil, errors.New("the order workload is gone")
	}
	batch := &driver.Request{Text: text}
	rows := &driver.Request{Text: "SELECT 100 rows of 10 columns"}
	tables := make([]*driver.Table, 2)
	for k := range tables {
		tables[k] = &driver.Table{Schema: "Sales", Name: "SalesOrderDetailType_inmem",
			Columns: []driver.SQLType{{Name: "smallint"}, {Name: "int"}, {Name: "int"}}}
		for i := range int64(5) {
			tables[k].Rows = append(tables[k].Rows, []any{i, 700 + i + int64(k), int64(1)})
		}
	}
	due := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	orders := make([]*driver.Request, 2)
	for k := range orders {
		id := int64(1000 * (k + 1))
		orders[k] = &driver.Request{Kind: driver.RPC, Proc: "Sales.usp_InsertSalesOrder_inmem", Params: []driver.Param{
			{Type: driver.SQLType{Name: "int"}, Output: true},
			{Type: driver.SQLType{Name: "datetime2", Scale: 7}, Value: due},
			{Type: driver.SQLType{Name: "int"}, Value: id}, {Type: driver.SQLType{Name: "int"}, Value: id},
			{Type: driver.SQLType{Name: "int"}, Value: id}, {Type: driver.SQLType{Name: "int"}, Value: id},
			{Value: tables[k], Type: driver.SQLType{Schema: "Sales", Name: "SalesOrderDetailType_inmem"}},
		}}
	}
	i := 0
	return []request{
		{name: "batch", make: func() *driver.Request { return batch }, sql: batch.Text},
		{name: "order", make: func() *driver.Request { i++; return orders[i&1] }},
		{name: "rows", rows: tableRows, make: func() *driver.Request { return rows }, sql: rows.Text},
	}, nil
}

// caller is one connection of one path.
type caller interface {
	call(ctx context.Context) error
	close() error
}

// path is one way to send a request; open gives nil if it cannot send that one.
type path struct {
	name string
	open func(ctx context.Context, srv *child, encrypt bool, r request) (caller, error)
}

func paths() []path {
	return []path{
		{"floor", openFloor},
		{"tds", newTargets(target.WireTDS).open},
		{"go-mssqldb", newTargets(target.WireMSSQL).open},
		{"database/sql", openSQL},
	}
}

func address(srv *child, encrypt bool) string {
	if encrypt {
		return srv.tls
	}
	return srv.clear
}

// floor is a bare socket with a request that is bytes already.
type floor struct {
	nc     net.Conn
	raw    net.Conn
	out    []byte
	answer int
	buf    []byte
}

func (f *floor) call(context.Context) error {
	if _, err := f.nc.Write(f.out); err != nil {
		return err
	}
	for left := f.answer; left > 0; {
		n, err := f.nc.Read(f.buf)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (f *floor) close() error { return f.raw.Close() }

func openFloor(ctx context.Context, srv *child, encrypt bool, r request) (caller, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address(srv, encrypt))
	if err != nil {
		return nil, err
	}
	f := &floor{nc: raw, raw: raw, buf: make([]byte, 64<<10)}
	hello := tds.Prelogin{Encryption: tds.EncryptNotSupported}
	if encrypt {
		hello.Encryption = tds.EncryptOn
	}
	if _, err := raw.Write(packet(tds.PacketPrelogin, hello.AppendRequest(nil))); err != nil {
		return nil, err
	}
	if _, err := readMessage(raw); err != nil {
		return nil, err
	}
	if encrypt {
		wrap := tds.NewHandshakeConn(raw)
		t := tls.Client(wrap, clientTLS())
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		if err := wrap.Done(); err != nil {
			return nil, err
		}
		f.nc = t
	}
	l := tds.Login7{Version: tds.V74, UserName: "sa", Password: secret}
	if _, err := f.nc.Write(packet(tds.PacketLogin7, l.Append(nil))); err != nil {
		return nil, err
	}
	if _, err := readMessage(f.nc); err != nil {
		return nil, err
	}
	// The bytes are those that a session of our own would send.
	f.out, err = sample(r)
	if err != nil {
		return nil, err
	}
	if _, err := f.nc.Write(f.out); err != nil {
		return nil, err
	}
	for last := false; !last; {
		head := make([]byte, tds.HeaderSize)
		if _, err := io.ReadFull(f.nc, head); err != nil {
			return nil, err
		}
		h, err := tds.ParseHeader(head)
		if err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(f.nc, f.buf[:h.Length-tds.HeaderSize]); err != nil {
			return nil, err
		}
		f.answer += h.Length
		last = h.Status&tds.StatusEOM != 0
	}
	return f, nil
}

func packet(t tds.PacketType, payload []byte) []byte {
	h := tds.Header{Type: t, Status: tds.StatusEOM, Length: tds.HeaderSize + len(payload), ID: 1}
	return append(h.Append(nil), payload...)
}

// sample is the bytes of r, caught on their way out.
func sample(r request) ([]byte, error) {
	q, err := encode(r.make())
	if err != nil {
		return nil, err
	}
	var c catcher
	_, _ = tdsclient.NewConn(&c, tds.DefaultPacketSize).Do(context.Background(), q, nil) // no answer comes
	return c.sent, nil
}

// encode is the bytes of r, made once.
func encode(r *driver.Request) (*tdsclient.Request, error) {
	if r.Kind == driver.Text {
		return tdsclient.Batch(r.Text), nil
	}
	params := make([]tdsclient.Param, len(r.Params))
	for i, p := range r.Params {
		params[i] = tdsclient.Param{Name: p.Name, Type: tdsclient.SQLType(p.Type), Value: p.Value, Output: p.Output}
		t, ok := p.Value.(*driver.Table)
		if !ok {
			continue
		}
		cols := make([]tdsclient.SQLType, len(t.Columns))
		for k, c := range t.Columns {
			cols[k] = tdsclient.SQLType(c)
		}
		var err error
		if params[i].Value, err = tdsclient.NewTable(t.Schema, t.Name, cols, t.Rows); err != nil {
			return nil, err
		}
	}
	return tdsclient.Call(r.Proc, params)
}

type catcher struct {
	net.Conn
	sent []byte
}

func (c *catcher) Write(b []byte) (int, error) { c.sent = append(c.sent, b...); return len(b), nil }
func (c *catcher) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *catcher) Close() error                { return nil }

// do sends through a driver.Session.
type do struct {
	s driver.Session
	r request
}

func (d *do) call(ctx context.Context) error {
	out, err := d.s.Do(ctx, d.r.make(), nil)
	if err != nil {
		return err
	}
	if out.Rows != d.r.rows || len(out.Errors) > 0 {
		return fmt.Errorf("the answer is not as expected: %+v", out)
	}
	return nil
}

func (d *do) close() error { return d.s.Close() }

// clientTLS trusts the server, which is a child of this process.
func clientTLS() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, DynamicRecordSizingDisabled: true}
}

// targets opens sessions over one wire. Those of one address share a target, and
// so what it keeps of requests.
type targets struct {
	wire target.Wire
	mu   sync.Mutex
	made map[string]*target.Target
}

func newTargets(w target.Wire) *targets { return &targets{wire: w, made: map[string]*target.Target{}} }

func (s *targets) at(addr string, encrypt bool) (*target.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := addr + " " + strconv.FormatBool(encrypt)
	if t := s.made[key]; t != nil {
		return t, nil
	}
	o := target.Options{Server: strings.Replace(addr, ":", ",", 1), User: "sa", Password: secret, Wire: s.wire,
		Encrypt: target.EncryptDisable, TrustServerCertificate: true, AllowCleartextLogin: true}
	if encrypt {
		o.Encrypt = target.EncryptMandatory
	}
	t, err := target.New(o)
	if err == nil {
		s.made[key] = t
	}
	return t, err
}

func (s *targets) open(ctx context.Context, srv *child, encrypt bool, r request) (caller, error) {
	t, err := s.at(address(srv, encrypt), encrypt)
	if err != nil {
		return nil, err
	}
	c, err := t.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &do{c, r}, nil
}

// query sends through database/sql.
type query struct {
	db   *sql.DB
	conn *sql.Conn
	r    request
}

func (q *query) call(ctx context.Context) error {
	if q.r.rows == 0 {
		_, err := q.conn.ExecContext(ctx, q.r.sql)
		return err
	}
	rows, err := q.conn.QueryContext(ctx, q.r.sql)
	if err != nil {
		return err
	}
	n := int64(0)
	for rows.Next() {
		n++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != q.r.rows {
		return fmt.Errorf("%d rows: %w", n, err)
	}
	return nil
}

func (q *query) close() error { return errors.Join(q.conn.Close(), q.db.Close()) }

func openSQL(ctx context.Context, srv *child, encrypt bool, r request) (caller, error) {
	if r.sql == "" {
		return nil, nil
	}
	v := url.Values{"encrypt": {"disable"}}
	if encrypt {
		v = url.Values{"encrypt": {"true"}, "TrustServerCertificate": {"true"}}
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", secret), Host: address(srv, encrypt), RawQuery: v.Encode()}
	db, err := sql.Open("sqlserver", u.String())
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &query{db, conn, r}, nil
}
