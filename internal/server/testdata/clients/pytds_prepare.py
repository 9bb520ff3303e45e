# Calls the procedures of prepared statements and server cursors of the engine
# itself through python-tds, and prints a line of JSON for each step.
import json
import sys

import pytds

port, password = int(sys.argv[1]), sys.argv[2]


def out():
    return pytds.output(value=None, param_type="int")


with pytds.connect("127.0.0.1", port=port, user="sa", password=password, database="d", autocommit=True) as conn:
    cur = conn.cursor()
    got = cur.callproc("sp_prepare", [out(), "@i int", "select v from k where id > @i order by id"])
    handle = got[0]
    cur.callproc("sp_execute", [handle, 1])
    print(json.dumps({"step": "execute", "rows": [list(r) for r in cur.fetchall()]}))
    cur.callproc("sp_unprepare", [handle])
    try:
        cur.callproc("sp_execute", [handle, 1])
        print(json.dumps({"step": "unprepared", "number": 0}))
    except pytds.Error as e:
        print(json.dumps({"step": "unprepared", "number": e.number}))
