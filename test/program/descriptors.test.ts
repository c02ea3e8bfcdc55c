import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Connection, openConnection } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { runProgram, startProgram } from '../support/program.ts';

const skip = process.platform !== 'linux' && 'the limit is read from /proc';

/** Returns the command of a shell that sets a limit and then executes the program. */
const under = (limit: string) => ['/bin/sh', '-c', `${limit}; exec "$@"`, 'sh'];

const start = (t: TestContext, limit: string, ...flags: string[]) =>
  startProgram(t, ['--profiles', 'M', ...flags], { cwd: createFolder(t), wrapper: under(limit) });

/** Returns the warning about connections in a log, if there is one. */
const findWarning = (log: string): string | undefined => /"level":40.*"msg":"(maxConnections [^"]*)"/.exec(log)?.[1];

const open = (t: TestContext, url: string, count: number): Connection[] =>
  Array.from({ length: count }, () => {
    const connection = openConnection(url);
    t.after(connection.destroy);
    return connection;
  });

const ask = async (connection: Connection | undefined): Promise<number | undefined> => {
  connection?.send('GET /api/processes HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return (await connection?.next())?.status;
};

test('maxConnections is lowered with a warning to the limit on open files, and that many connections are served', {
  skip,
}, async (t) => {
  const { url, stop, output } = await start(t, 'ulimit -n 256', '--max-event-loop-delay', '0');
  const served = open(t, url, 92);
  for (const connection of served) assert.equal(await ask(connection), 200);
  const extra = open(t, url, 100);
  assert.deepEqual([await ask(extra[0]), await ask(extra[99])], [503, 503]);
  const closed = open(t, url, 108);
  assert.deepEqual([await ask(served[0]), await ask(served[91])], [200, 200]);
  for (const { destroy } of closed) destroy();
  assert.equal((await stop()).code, 0);
  assert.equal(
    findWarning(output.stderr),
    'maxConnections is 92 instead of 1000, because the limit on open files is 256; ' +
      'raise the limit with ulimit -n, or with LimitNOFILE in a systemd unit',
  );
});

test('maxConnections is not lowered if it fits within the limit on open files', { skip }, async (t) => {
  const { stop } = await start(t, 'ulimit -n 256', '--max-connections', '92');
  assert.equal(findWarning((await stop()).stderr), undefined);
});

test('the hard limit on open files counts, because Node raises the soft limit to the hard limit', {
  skip,
}, async (t) => {
  const { stop } = await start(t, 'ulimit -Hn 1500; ulimit -Sn 256');
  assert.equal(findWarning((await stop()).stderr), undefined);
  const lower = await start(t, 'ulimit -Sn 256; ulimit -Hn 1000');
  assert.match(findWarning((await lower.stop()).stderr) ?? '', /is 836 instead of 1000,/);
});

test('a limit on open files that leaves no room for connections is refused', { skip }, async () => {
  const { code, stderr } = await runProgram(['--profiles', 'M', '--port', '0'], {
    wrapper: under('ulimit -n 170'),
    bundled: true,
  });
  assert.equal(
    stderr,
    'signalbox: the limit on open files is 170, but serving 10 connections needs at least 174; ' +
      'raise the limit with ulimit -n, or with LimitNOFILE in a systemd unit\n',
  );
  assert.equal(code, 1);
});
