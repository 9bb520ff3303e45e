"""Drives the server with python-tds and prints what it saw, one JSON line a step.

Arguments: port, password.
"""
import json
import sys
import uuid

import pytds

port, password = int(sys.argv[1]), sys.argv[2]


def say(step, **what):
    print(json.dumps({"step": step, **what}, default=str), flush=True)


def connect(**more):
    return pytds.connect("127.0.0.1", port=port, user="sa", password=password, database="master", login_timeout=5, **more)


with connect() as c:
    cur = c.cursor()
    cur.execute("select 42")
    say("batch", rows=[list(r) for r in cur.fetchall()])
    cur.execute("select %s, %s, %s, %s", (7, "grün", None, uuid.UUID(int=5)))
    say("params", rows=[list(r) for r in cur.fetchall()])
    c.commit()
    cur.execute("select 42")
    cur.fetchall()
    c.rollback()
    say("transactions")
    vals = cur.callproc("dbo.usp_Out", {"@in": 1, "@o": pytds.output(value=0)})
    say("procedure", out=list(vals), status=cur.get_proc_return_status())
    try:
        cur.execute("fail now")
        say("error")
    except pytds.Error as e:
        say("error", number=e.number)
    cur.execute("select 42")
    cur.cancel()
    cur.execute("select 42")
    say("cancel", rows=[list(r) for r in cur.fetchall()])

for version in (pytds.tds_base.TDS71, pytds.tds_base.TDS72, pytds.tds_base.TDS73A, pytds.tds_base.TDS74):
    with connect(tds_version=version) as c:
        cur = c.cursor()
        cur.execute("select 42")
        say("version", version=hex(version)[:4], rows=[list(r) for r in cur.fetchall()])
try:
    pytds.connect("127.0.0.1", port=port, user="sa", password="wrong", login_timeout=5)
    say("login")
except pytds.Error as e:
    say("login", error=type(e).__name__, text=str(e))
