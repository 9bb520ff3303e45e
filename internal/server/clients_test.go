//go:build clients

package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	engine "gostress/internal/engine/exec"
	"gostress/internal/engine/sqlerr"
	"gostress/internal/engine/types"
)

// These tests need FreeTDS (tsql), tdsodbc, unixodbc (isql), python3-tds, and node with the packages of
// testdata/clients (npm ci there, or GOSTRESS_NODE_MODULES). What is missing
// fails: whoever sets the build tag wants them run.

// clientSession answers what the clients' scripts ask.
func clientSession(o engine.SessionOptions) (session, error) {
	if o.Database == "nowhere" {
		return nil, sqlerr.New(4060, 11, 1, "Database \"nowhere\" does not exist.")
	}
	s := &script{spid: 51, opts: o}
	if s.opts.Database == "" {
		s.opts.Database = "master"
	}
	s.batch = func(ctx context.Context, text string, out engine.Output) error {
		switch {
		case strings.Contains(text, "waitfor"):
			if err := rows(out, true, 1); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		case strings.Contains(text, "select 42"):
			return rows(out, false, 42)
		case strings.Contains(text, "many rows"):
			return rows(out, false, make([]int64, 20000)...)
		case strings.Contains(text, "fail"):
			return events(out, message(50001, 16, "It failed."), &engine.Done{Error: true})
		case strings.Contains(text, "print"):
			return events(out, message(0, 0, "printed"), &engine.Done{})
		}
		return out.Event(&engine.Done{})
	}
	s.call = func(ctx context.Context, c *engine.Call, out engine.Output) error {
		done := &engine.Done{Kind: engine.DoneProc, Cmd: engine.CmdExecute}
		switch c.Proc {
		case "sp_executesql":
			text := c.Params[0].Value.Str()
			if len(c.Params) > 2 {
				return echo(ctx, c, out)
			}
			if strings.Contains(text, "select @p") {
				return out.Event(done)
			}
			return s.batch(ctx, text, out)
		case "sp_prepare":
			return events(out, &engine.OutParam{Name: "@handle", Type: types.Int, Value: types.NewInt(types.KindInt, 3)}, &engine.ReturnStatus{}, done)
		case "sp_execute":
			if err := rows(out, true, c.Params[1].Value.Int()); err != nil {
				return err
			}
			return events(out, &engine.ReturnStatus{}, done)
		}
		n := int64(0)
		for _, p := range c.Params {
			if p.Table != nil {
				n += int64(len(p.Table.Rows))
			}
		}
		for i, p := range c.Params {
			if p.Output {
				if err := out.Event(&engine.OutParam{Ordinal: i, Name: p.Name, Type: types.Int, Value: types.NewInt(types.KindInt, 99+n)}); err != nil {
					return err
				}
			}
		}
		return events(out, &engine.ReturnStatus{Value: 5}, done)
	}
	return s, nil
}

// steps runs a client and returns what it printed for each step.
func steps(t *testing.T, dir string, env []string, name string, args ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, out.String(), errs.String())
	}
	got := map[string]string{}
	sc := bufio.NewScanner(&out)
	for sc.Scan() {
		var head struct{ Step, Version string }
		if err := json.Unmarshal(sc.Bytes(), &head); err != nil {
			t.Errorf("%s printed %q", name, sc.Text())
			continue
		}
		got[head.Step+head.Version] = sc.Text()
	}
	return got
}

func has(t *testing.T, got map[string]string, step string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got[step], p) {
			t.Errorf("step %s: %s lacks %s", step, got[step], p)
		}
	}
}

func TestClientTedious(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("GOSTRESS_NODE_MODULES")
	if modules == "" {
		modules, _ = filepath.Abs("testdata/clients/node_modules")
	}
	file, _ := filepath.Abs("testdata/clients/tedious.js")
	for _, encrypt := range []string{"false", "true", "strict"} {
		t.Run("encrypt="+encrypt, func(t *testing.T) {
			t.Parallel()
			cert, err := selfSigned(time.Now())
			if err != nil {
				t.Fatal(err)
			}
			ca := filepath.Join(t.TempDir(), "ca.pem") // strict cannot be told to trust anything
			if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}), 0o600); err != nil {
				t.Fatal(err)
			}
			r := start(t, Options{Certificate: cert}, clientSession)
			_, port, _ := strings.Cut(r.addr, ":")
			got := steps(t, ".", []string{"NODE_PATH=" + modules, "NODE_EXTRA_CA_CERTS=" + ca}, "node", file, port, testPassword, encrypt)
			has(t, got, "batch", `"rows":[[42]]`)
			has(t, got, "params", `-5,"grün 🙂",123.45,"2024-02-29T23:59:58.123Z","00ff",null,"01020304-0506-0708-090A-0B0C0D0E0F10"`)
			has(t, got, "procedure", `"out":{"o":99}`, `"status":5`)
			has(t, got, "table", `"out":{"o":102}`)
			has(t, got, "many", `"count":20000`)
			has(t, got, "error", `"number":50001`)
			has(t, got, "cancel", `"error":"ECANCEL"`)
			has(t, got, "after", `"rows":[[42]]`)
			has(t, got, "transactions", "transactions")
			has(t, got, "reset", "reset")
			has(t, got, "prepared", `"rows":[8]`)
			has(t, got, "nowhere", `"error":"ELOGIN"`)
		})
	}
}

func TestClientPythonTDS(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, clientSession)
	_, port, _ := strings.Cut(r.addr, ":")
	got := steps(t, ".", nil, "/usr/bin/python3", "testdata/clients/pytds_client.py", port, testPassword)
	has(t, got, "batch", `"rows": [[42]]`)
	has(t, got, "params", `7, "gr\u00fcn", "00000000-0000-0000-0000-000000000005"`)
	has(t, got, "transactions", "transactions")
	has(t, got, "procedure", "99", `"status": 5`)
	has(t, got, "error", `"number": 50001`)
	has(t, got, "cancel", `"rows": [[42]]`)
	for _, v := range []string{"0x71", "0x72", "0x73", "0x74"} {
		has(t, got, "version"+v, `"rows": [[42]]`)
	}
	has(t, got, "login", "Login failed for user")
}

func TestClientFreeTDS(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"7.1", "7.2", "7.3", "7.4"} {
		for _, encryption := range []string{"off", "request", "require"} {
			t.Run(version+" "+encryption, func(t *testing.T) {
				t.Parallel()
				r := start(t, Options{}, clientSession)
				host, port, _ := strings.Cut(r.addr, ":")
				conf := filepath.Join(t.TempDir(), "freetds.conf")
				text := fmt.Sprintf("[it]\n\thost = %s\n\tport = %s\n\ttds version = %s\n\tencryption = %s\n\tclient charset = UTF-8\n", host, port, version, encryption)
				if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				cmd := exec.CommandContext(ctx, "tsql", "-S", "it", "-U", "sa", "-P", testPassword)
				cmd.Env = append(os.Environ(), "FREETDSCONF="+conf)
				cmd.Stdin = strings.NewReader("select 42\ngo\nfail now\ngo\nprint it\ngo\nmany rows\ngo\nselect 42\ngo\nquit\n")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%.2000s", err, out)
				}
				for _, want := range []string{"\n42\n(1 row affected)", "Msg 50001 (severity 16, state 1)", "It failed.", "printed", "(20000 rows affected)"} {
					if !bytes.Contains(out, []byte(want)) {
						t.Errorf("no %q in the output:\n%.2000s", want, out)
					}
				}
				if n := bytes.Count(out, []byte("\n42\n")); n != 2 {
					t.Errorf("%d answers of 42", n)
				}
			})
		}
	}
}

// odbcDriver is FreeTDS's ODBC driver.
func odbcDriver(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*/odbc/libtdsodbc.so")
	if len(found) == 0 {
		t.Fatal("tdsodbc is not installed")
	}
	return found[0]
}

// plainPassword needs no quoting in a connection string.
const plainPassword = "plain-1234"

// clientEngine serves an engine with a database d and a table k of three rows.
func clientEngine(t *testing.T) *running {
	t.Helper()
	users := map[string]string{"sa": testPassword, "app": plainPassword}
	r := start(t, Options{Engine: engine.New(engine.Options{ServerName: "TEST"}), Users: users}, nil)
	must(t, r.db(t), "create database d")
	must(t, r.db(t, "database=d"), "create table k (id int not null primary key, v nvarchar(5))", "insert k values (1, 'a'), (2, 'b'), (3, 'c')")
	return r
}

// TestClientODBC goes through unixODBC: server cursors and prepared statements of
// the engine itself.
func TestClientODBC(t *testing.T) {
	t.Parallel()
	driver := odbcDriver(t)
	r := clientEngine(t)
	_, port, _ := strings.Cut(r.addr, ":")
	got := steps(t, ".", nil, "/usr/bin/python3", "testdata/clients/odbc_client.py", port, plainPassword, driver)
	all := `"rows": [["1", "a"], ["2", "b"], ["3", "c"], "end"]`
	has(t, got, "default", all)
	has(t, got, "prepared", `"rows": [["2", "b"], ["3", "c"], "end"]`)
	has(t, got, "static", `"rows": [["1", "a"], ["3", "c"], ["2", "b"], ["1", "a"], ["2", "b"], ["3", "c"], "end"], "cursor": 3`)
	has(t, got, "static prepared", `"rows": [["2", "b"], ["3", "c"], "end"]`)
	has(t, got, "keyset", `"error": "16955 `)
	has(t, got, "keyset of groups", `"rows": [["3"]]`)
	has(t, got, "no query", `"rows": []`)
	has(t, got, "after", all)
}

func TestClientISQL(t *testing.T) {
	t.Parallel()
	driver := odbcDriver(t)
	r := clientEngine(t)
	host, port, _ := strings.Cut(r.addr, ":")
	dir := t.TempDir()
	ini := fmt.Sprintf("[it]\nDriver = %s\nServer = %s\nPort = %s\nTDS_Version = 7.4\nDatabase = d\nClientCharset = UTF-8\n", driver, host, port)
	if err := os.WriteFile(filepath.Join(dir, "odbc.ini"), []byte(ini), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "isql", "-b", "-v", "-d,", "it", "app", plainPassword)
	cmd.Env = append(os.Environ(), "ODBCINI="+filepath.Join(dir, "odbc.ini"))
	cmd.Stdin = strings.NewReader("select id, v from k order by id\nselect nope from k\nupdate k set v = 'z' where id = 1\nselect v from k where id = 1\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"1,a\n2,b\n3,c\n", "[FreeTDS][SQL Server]Statement(s) could not be prepared.", "\nz\n"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q in the output:\n%s", want, out)
		}
	}
}

func TestClientPrepare(t *testing.T) {
	t.Parallel()
	r := clientEngine(t)
	_, port, _ := strings.Cut(r.addr, ":")
	t.Run("tedious", func(t *testing.T) {
		t.Parallel()
		modules := os.Getenv("GOSTRESS_NODE_MODULES")
		if modules == "" {
			modules, _ = filepath.Abs("testdata/clients/node_modules")
		}
		got := steps(t, ".", []string{"NODE_PATH=" + modules}, "node", "testdata/clients/tedious_prepare.js", port, testPassword)
		has(t, got, "rows", `"rows":["a","c"]`)
		has(t, got, "unprepared", "unprepared")
	})
	t.Run("pytds", func(t *testing.T) {
		t.Parallel()
		got := steps(t, ".", nil, "/usr/bin/python3", "testdata/clients/pytds_prepare.py", port, testPassword)
		has(t, got, "execute", `"rows": [["b"], ["c"]]`)
		has(t, got, "unprepared", `"number": 8179`)
	})
}
