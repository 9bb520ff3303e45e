// Drives the server with tedious and prints what it saw, one JSON line a step.
// Arguments: port, password, encrypt (true, false, strict).
const { Connection, Request, TYPES, ISOLATION_LEVEL } = require('tedious');
const [port, password, encrypt] = process.argv.slice(2);

const say = (step, what) => console.log(JSON.stringify({ step, ...what }));

function connect(database) {
  return new Promise((resolve, reject) => {
    const connection = new Connection({
      server: '127.0.0.1',
      authentication: { type: 'default', options: { userName: 'sa', password } },
      options: {
        port: Number(port), database,
        encrypt: encrypt === 'strict' ? 'strict' : encrypt === 'true',
        trustServerCertificate: true, requestTimeout: 0, connectTimeout: 5000, cancelTimeout: 3000,
      },
    });
    connection.connect((err) => (err ? reject(err) : resolve(connection)));
  });
}

function run(connection, sql, how = 'execSql', prepare = () => {}, during = () => {}) {
  return new Promise((resolve) => {
    const rows = [];
    const out = {};
    let status;
    const request = new Request(sql, (err, count) => {
      resolve({ error: err ? err.code || err.number : undefined, number: err ? err.number : undefined, count, rows, out, status });
    });
    request.on('row', (columns) => rows.push(columns.map((c) => (Buffer.isBuffer(c.value) ? c.value.toString('hex') : c.value))));
    request.on('returnValue', (name, value) => { out[name] = value; });
    request.on('doneProc', (count, more, s) => { if (s !== undefined) status = s; });
    prepare(request);
    connection[how](request);
    during(connection);
  });
}

async function main() {
  const c = await connect('master');
  say('batch', await run(c, 'select 42', 'execSqlBatch'));
  say('params', await run(c, 'select @i, @s, @d, @dt, @b, @n, @g', 'execSql', (r) => {
    r.addParameter('i', TYPES.Int, -5);
    r.addParameter('s', TYPES.NVarChar, 'grün 🙂');
    r.addParameter('d', TYPES.Decimal, 123.45, { precision: 18, scale: 2 });
    r.addParameter('dt', TYPES.DateTime2, new Date('2024-02-29T23:59:58.123Z'), { scale: 7 });
    r.addParameter('b', TYPES.VarBinary, Buffer.from('00ff', 'hex'));
    r.addParameter('n', TYPES.NVarChar, null);
    r.addParameter('g', TYPES.UniqueIdentifier, '01020304-0506-0708-090A-0B0C0D0E0F10');
  }));
  say('procedure', await run(c, 'dbo.usp_Out', 'callProcedure', (r) => {
    r.addParameter('in', TYPES.Int, 1);
    r.addOutputParameter('o', TYPES.Int);
  }));
  say('table', await run(c, 'dbo.usp_Table', 'callProcedure', (r) => {
    r.addParameter('t', TYPES.TVP, {
      columns: [{ name: 'id', type: TYPES.Int }, { name: 'name', type: TYPES.NVarChar, length: 20 }],
      rows: [[1, 'one'], [2, 'two'], [3, null]],
    });
    r.addOutputParameter('o', TYPES.Int);
  }));
  say('many', { count: (await run(c, 'many rows', 'execSqlBatch')).rows.length });
  say('error', await run(c, 'fail', 'execSqlBatch'));
  say('cancel', await run(c, 'waitfor', 'execSqlBatch', undefined, (conn) => setTimeout(() => conn.cancel(), 30)));
  say('after', await run(c, 'select 42', 'execSqlBatch'));
  await new Promise((resolve, reject) => c.beginTransaction((e) => (e ? reject(e) : resolve()), 'tran', ISOLATION_LEVEL.SNAPSHOT));
  await new Promise((resolve, reject) => c.saveTransaction((e) => (e ? reject(e) : resolve()), 'sp'));
  await new Promise((resolve, reject) => c.commitTransaction((e) => (e ? reject(e) : resolve())));
  await new Promise((resolve, reject) => c.beginTransaction((e) => (e ? reject(e) : resolve())));
  await new Promise((resolve, reject) => c.rollbackTransaction((e) => (e ? reject(e) : resolve())));
  say('transactions', {});
  await new Promise((resolve, reject) => c.reset((e) => (e ? reject(e) : resolve())));
  say('reset', {});
  const request = new Request('select @p', () => {});
  request.addParameter('p', TYPES.Int);
  await new Promise((resolve) => { request.on('prepared', resolve); c.prepare(request); });
  const got = await new Promise((resolve) => {
    const rows = [];
    request.on('row', (cols) => rows.push(cols[0].value));
    request.on('requestCompleted', () => resolve(rows));
    c.execute(request, { p: 8 });
  });
  say('prepared', { rows: got });
  c.close();
  try {
    await connect('nowhere');
    say('nowhere', {});
  } catch (e) {
    say('nowhere', { error: e.code });
  }
}

main().catch((e) => { console.error(e); process.exit(1); });
