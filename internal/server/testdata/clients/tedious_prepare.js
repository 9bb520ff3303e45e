// Prepares, executes and unprepares a statement of the engine itself through
// tedious, and prints a line of JSON for each step.
const { Connection, Request, TYPES } = require('tedious');

const [port, password] = process.argv.slice(2);
const conn = new Connection({
  server: '127.0.0.1',
  authentication: { type: 'default', options: { userName: 'sa', password } },
  options: { port: Number(port), database: 'd', encrypt: false, rowCollectionOnRequestCompletion: true },
});
const say = (step, more) => console.log(JSON.stringify({ step, ...more }));

conn.connect((err) => {
  if (err) { say('connect', { error: err.message }); return process.exit(1); }
  let state = 'prepare';
  const rows = [];
  const request = new Request('select v from k where id = @i', (err) => {
    if (err) { say(state, { error: err.message, number: err.number }); process.exit(1); }
    if (state === 'second') { say('rows', { rows }); state = 'unprepare'; conn.unprepare(request); }
  });
  request.addParameter('i', TYPES.Int);
  request.on('row', (cols) => rows.push(cols[0].value));
  request.on('requestCompleted', () => {
    if (state === 'first') { state = 'second'; setImmediate(() => conn.execute(request, { i: 3 })); return; }
    if (state === 'unprepare') {
      say('unprepared');
      process.exit(0);
    }
  });
  request.on('prepared', () => { state = 'first'; conn.execute(request, { i: 1 }); });
  conn.prepare(request);
});
