const { Connection, Request } = require('tedious');
const e = process.env, n = Number(process.argv[1]);
const c = new Connection({
  server: e.BENCH_HOST,
  authentication: { type: 'default', options: { userName: 'sa', password: e.BENCH_PASSWORD } },
  options: { port: Number(e.BENCH_PORT), encrypt: false, trustServerCertificate: true, tdsVersion: '7_4' },
});
const fail = (err) => { console.error(String(err)); process.exit(1); };
let i = 0;
function next() {
  if (i++ === n) { c.close(); return; }
  c.execSqlBatch(new Request(e.BENCH_BATCH, (err) => (err ? fail(err) : next())));
}
c.connect((err) => (err ? fail(err) : next()));
