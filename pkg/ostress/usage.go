package ostress

import "io"

// Usage writes the banner and the switches.
func Usage(w io.Writer) { _, _ = io.WriteString(w, usage) }

const usage = `gostress: T-SQL from many connections at once, as ostress runs it
usage: gostress [switches]      an ostress run
       gostress COMMAND ...     demo, serve, workload, run, compare, control-file, version; COMMAND --help tells more

Letters are case sensitive. A value stands right behind its letter (-n100) or is the next argument.

 -S  --server            server: . | host | host,port | host\instance | tcp:host,port | [::1],port   (default .)
 -D  --data-source       an ODBC data source (odbc.ini), for what the switches do not say
 -E  --integrated        integrated authentication (the default without -U)
 -U  --user              SQL Server login
 -P  --password          its password; else SQLCMDPASSWORD, else asked for
 -d  --database          database (default: the login's)
 -Q  --query             a query; GO on a line of its own separates batches
 -i  --input             a .sql or .rml file, or a pattern with * and ?
     --codepage N        code page of input files without a byte order mark, such as 1251
     --workload          a bundled workload in place of -Q or -i, such as inmem-oltp/inmem
     --mode              how that workload makes its orders: batch (default) or tvp
 -n  --connections       connections for each input file or query (default 1); -n1,2,4,8 is a sweep
 -r  --iterations        iterations of each connection (default 1)
     --duration 5m       run for a time; with -r, whichever ends first   (docs/load.md)
     --think 50ms        pause between iterations: 50ms, uniform(10ms,90ms) or exp(50ms)
     --rate 2000/s       an open loop: iterations begin at this rate, over all connections
     --arrivals, --late  constant (default) or poisson; queue (default) or skip what finds no connection
     --max-connections N an open loop may open more connections when all are busy
     --stages LIST       10:30s,50:1m connections, or 500/s:30s,1000/s:1m rates, one after the other
     --warmup, --ramp-up, --cooldown TIME    around what is measured
     --max-errors N      end after so many batches that failed
     --params FILE       rows of a .csv or .jsonl file for the @names of the input   (docs/parameters.md)
     --param-query SQL   rows of a query; --param-server, --param-database say where
     --param-order       sequential (default), shuffled, random or slice
     --param-types LIST  @id:int,@name:nvarchar(40)
     --var NAME=GEN      a generated parameter: id=uniform(1,8000), zipf, seq, uuid, now, choice, text
     --inline            put parameters into the text in place of binding them
     --sqlcmd-vars N=V   replace $(N) as sqlcmd does; N alone takes the environment's
     --seed N            what is drawn by chance is drawn alike (default 1)
 -o  --output            directory for results and log (default ./gostress-out/<UTC time>)
 -c  --control-file      a control file; gostress control-file prints one
 -l  --login-timeout     seconds, 0 = none (default 15)
 -t  --query-timeout     seconds, 0 = none (default 0)
 -p  --packet-size       bytes, 512 to 32767
 -q  --quiet             no result rows: they are counted and thrown away
 -fx --result-format=x   results as XML (default text)
 -L  --lcid              language id for how dates and numbers look in text results (default 1024)
 -v  --verbose           say more of each connection: its login, retries, cancels
 -b  --stop-on-error     stop at the first error
 -N  --no-exit-line      do not print the last line
 -M  --max-threads       most threads (default 10000)
 -T  --trace-flag        146: do not ask for encryption beyond the login
 -m  --run-mode          stress (default), or replay: recorded .rml files in their order, with -c
 -a  --replay-password   password of a replay's logins, with -mreplay
     --repeat N          the run N times, with a table of medians; for a sweep, each number of connections
     --reset             reset the bundled workload before each run; --reset-query SQL: any other data
     --threshold COND    p99<20ms, errors<0.1%, rate>=5000/s, errors[1205]==0, ...; exit status 99 when it fails
     --abort-on COND     end the run when it comes true, after --abort-grace (default 10s); exit status 99
     --progress MODE     none, plain, tty or json, on standard error   (docs/progress.md)
     --json FILE         the result as JSON
     --csv, --hgrm, --hlog, --junit FILE    series, percentiles, histogram log, thresholds as tests
     --prometheus ADDR   serve metrics while the run goes on, as 127.0.0.1:9464
     --encrypt           mandatory (default), optional, strict or disable    (GOSTRESS_ENCRYPT)
     --trust-server-certificate                                   (GOSTRESS_TRUST_SERVER_CERTIFICATE=1)
     --ca-file FILE      authority of the server's certificate                       (GOSTRESS_CA_FILE)
     --host-name-in-certificate NAME, --tls-min 1.0|1.1|1.2|1.3, --allow-cleartext-login
     --wire              auto (default), tds or go-mssqldb: who sends the requests
     --session           odbc (default) or ssms: whose SET options a session has
     --language NAME     the sessions' language, as SET LANGUAGE takes it
     --app-name, --application-intent readonly, --server-spn, --multi-subnet-failover,
     --extended-protection
     --retries N         send a batch again that a deadlock or a write conflict failed (default 0)
     --retry-in-doubt    and one that timed out or lost its connection
     --connect-concurrency N (default 64), --reconnect backoff|never|always
`
