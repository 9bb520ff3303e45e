import os
import sys

import pytds

e = os.environ
with pytds.connect(dsn=e["BENCH_HOST"], port=int(e["BENCH_PORT"]), user="sa", password=e["BENCH_PASSWORD"],
                   autocommit=True, enc_login_only=False) as c:
    with c.cursor() as cur:
        for _ in range(int(sys.argv[1])):
            cur.execute(e["BENCH_BATCH"])
