# Talks to the server under test through unixODBC and FreeTDS's driver, with
# server cursors, and prints a line of JSON for each step.
import ctypes
import ctypes.util
import json
import sys

port, password = sys.argv[1], sys.argv[2]
odbc = ctypes.CDLL(ctypes.util.find_library("odbc") or "libodbc.so.2")

HANDLE_ENV, HANDLE_DBC, HANDLE_STMT = 1, 2, 3
NTS = -3
ATTR_ODBC_VERSION, ATTR_CURSOR_TYPE, ATTR_CONCURRENCY, ATTR_ROWS = 200, 6, 7, 27
FORWARD_ONLY, KEYSET, DYNAMIC, STATIC = 0, 1, 2, 3
FETCH_NEXT, FETCH_FIRST, FETCH_LAST, FETCH_PRIOR, FETCH_ABSOLUTE, FETCH_RELATIVE = 1, 2, 3, 4, 5, 6


class Failed(Exception):
    pass


def check(rc, kind, handle):
    rc = ctypes.c_short(rc).value
    if rc in (0, 1, 100):
        return rc
    state, native, text, n = ctypes.create_string_buffer(6), ctypes.c_int(), ctypes.create_string_buffer(1000), ctypes.c_short()
    said = []
    i = 1
    while ctypes.c_short(odbc.SQLGetDiagRec(kind, handle, i, state, ctypes.byref(native), text, 1000, ctypes.byref(n))).value in (0, 1):
        said.append("%d %s" % (native.value, text.value.decode(errors="replace")))
        i += 1
    raise Failed("; ".join(said))


def allocate(kind, parent):
    h = ctypes.c_void_p()
    check(odbc.SQLAllocHandle(kind, parent, ctypes.byref(h)), HANDLE_ENV, parent)
    return h


env = ctypes.c_void_p()
odbc.SQLAllocHandle(HANDLE_ENV, None, ctypes.byref(env))
odbc.SQLSetEnvAttr(env, ATTR_ODBC_VERSION, ctypes.c_void_p(3), 0)
dbc = allocate(HANDLE_DBC, env)
text = "Driver=%s;Server=127.0.0.1;Port=%s;UID=app;PWD={%s};Database=d;TDS_Version=7.4;ClientCharset=UTF-8" % (sys.argv[3], port, password.replace("}", "}}"))
raw = text.encode()
check(odbc.SQLDriverConnect(dbc, None, raw, len(raw), None, 0, None, 0), HANDLE_DBC, dbc)


def values(stmt, cols):
    out = []
    for c in range(1, cols + 1):
        buf, n = ctypes.create_string_buffer(200), ctypes.c_ssize_t()
        check(odbc.SQLGetData(stmt, c, 1, buf, 200, ctypes.byref(n)), HANDLE_STMT, stmt)
        out.append(None if n.value == -1 else buf.value.decode())
    return out


def step(name, cursor, text, moves, param=None, cols=2):
    stmt = allocate(HANDLE_STMT, dbc)
    try:
        if cursor is not None:
            check(odbc.SQLSetStmtAttr(stmt, ATTR_CURSOR_TYPE, ctypes.c_void_p(cursor), 0), HANDLE_STMT, stmt)
        q = text.encode()
        if param is None:
            check(odbc.SQLExecDirect(stmt, q, NTS), HANDLE_STMT, stmt)
        else:
            check(odbc.SQLPrepare(stmt, q, NTS), HANDLE_STMT, stmt)
            v, n = ctypes.c_int(param), ctypes.c_ssize_t(4)
            check(odbc.SQLBindParameter(stmt, 1, 1, -16, 4, 10, 0, ctypes.byref(v), 4, ctypes.byref(n)), HANDLE_STMT, stmt)
            check(odbc.SQLExecute(stmt), HANDLE_STMT, stmt)
        rows = []
        for way, offset in moves:
            rc = check(odbc.SQLFetchScroll(stmt, way, ctypes.c_ssize_t(offset)), HANDLE_STMT, stmt)
            rows.append("end" if rc == 100 else values(stmt, cols))
        got = ctypes.c_size_t()
        odbc.SQLGetStmtAttr(stmt, ATTR_CURSOR_TYPE, ctypes.byref(got), 0, None)
        print(json.dumps({"step": name, "rows": rows, "cursor": got.value}))
    except Failed as e:
        print(json.dumps({"step": name, "error": str(e)}))
    finally:
        odbc.SQLFreeHandle(HANDLE_STMT, stmt)


query = "SELECT id, v FROM k ORDER BY id"
every = [(FETCH_NEXT, 0)] * 4
step("default", None, query, every)
step("prepared", None, "SELECT id, v FROM k WHERE id > ? ORDER BY id", every[:3], 1)
step("static", STATIC, query, [(FETCH_NEXT, 0), (FETCH_LAST, 0), (FETCH_PRIOR, 0), (FETCH_FIRST, 0), (FETCH_ABSOLUTE, 2), (FETCH_RELATIVE, 1), (FETCH_NEXT, 0)])
step("static prepared", STATIC, "SELECT id, v FROM k WHERE id > ? ORDER BY id", every[:3], 1)
step("keyset", KEYSET, query, every)
step("keyset of groups", KEYSET, "SELECT COUNT(*) FROM k", every[:1], cols=1)
step("no query", STATIC, "UPDATE k SET v = v WHERE id = 1", [])
step("after", None, query, every)
