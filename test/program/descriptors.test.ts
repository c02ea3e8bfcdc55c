import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../support/folder.ts';
import { runProgram, startProgram } from '../support/program.ts';

const skip = process.platform !== 'linux' && 'the limit is read from /proc';

/** A shell that sets a limit and then executes the program. */
const under = (limit: string) => ['/bin/sh', '-c', `${limit}; exec "$@"`, 'sh'];

const start = (t: TestContext, limit: string, ...flags: string[]) =>
  startProgram(t, ['--profiles', 'M', ...flags], { cwd: createFolder(t), wrapper: under(limit) });

/** The warning about connections in a log, if there is one. */
const findWarning = (log: string): string | undefined => /"level":40.*"msg":"(maxConnections [^"]*)"/.exec(log)?.[1];

/** Opens connections one after the other, including those that the server closes at once. */
const openMany = async (t: TestContext, url: string, count: number): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
};

test('maxConnections is lowered with a warning to what the limit on open files allows, and that many are served', {
  skip,
}, async (t) => {
  const { url, stop, output } = await start(t, 'ulimit -n 256');
  const sockets = await openMany(t, url, 300);
  const ask = async (index: number): Promise<string> => {
    const socket = sockets[index] as Socket;
    socket.write('GET /api/processes HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return String(await once(socket, 'data')).slice(0, 12);
  };
  assert.deepEqual(
    [await ask(0), await ask(91), await ask(92), await ask(191)],
    ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 503', 'HTTP/1.1 503'],
  );
  assert.equal((await stop()).code, 0);
  assert.equal(
    findWarning(output.stderr),
    'maxConnections is 92 instead of 1000, because the limit on open files is 256; ' +
      'raise it with ulimit -n, or LimitNOFILE in a systemd unit',
  );
});

test('maxConnections is not lowered if it fits within the limit on open files', { skip }, async (t) => {
  const { stop } = await start(t, 'ulimit -n 256', '--max-connections', '92');
  assert.equal(findWarning((await stop()).stderr), undefined);
});

test('the hard limit on open files counts, since Node raises the soft limit to it', { skip }, async (t) => {
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
      'raise it with ulimit -n, or LimitNOFILE in a systemd unit\n',
  );
  assert.equal(code, 1);
});
