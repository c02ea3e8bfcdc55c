import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { writeCertificate } from '../../support/certificate.ts';
import { createFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/free-port.ts';
import { atEnd, type Scope } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';

export interface Started {
  port: number;
  /** Certificate in PEM. */
  ca: string;
  stop(): Promise<void>;
}

const start = async (
  t: Scope,
  program: string,
  args: readonly string[],
  isReady: RegExp,
): Promise<() => Promise<void>> => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  atEnd(t, stop);
  await waitUntil(`${program} is ready`, () => {
    if (child.exitCode !== null) throw new Error(output);
    return isReady.test(output);
  });
  return stop;
};

/** Starts Redis with a user `ben`, on a port without TLS and a port with TLS. `more` are lines of its configuration. */
export const startRedis = async (t: Scope, more: readonly string[] = []): Promise<Started & { tlsPort: number }> => {
  const folder = createFolder(t);
  const { cert, key, pem } = writeCertificate(folder, 'localhost');
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `tls-port ${tlsPort}`,
    `tls-cert-file ${cert}`,
    `tls-key-file ${key}`,
    'tls-auth-clients no',
    'save ""',
    `dir ${folder}`,
    'requirepass secret',
    'user ben on >secret-of-ben ~* &* +@all',
    ...more,
  ];
  writeFileSync(join(folder, 'redis.conf'), `${lines.join('\n')}\n`);
  const stop = await start(t, 'redis-server', [join(folder, 'redis.conf')], /Ready to accept connections/);
  return { port, tlsPort, ca: pem, stop };
};

/** Starts MariaDB with TLS, a user `ben` and a database `shop`. */
export const startMariadb = async (t: Scope): Promise<Started> => {
  const folder = createFolder(t);
  const { cert, key, pem } = writeCertificate(folder, 'localhost');
  const data = join(folder, 'data');
  const own = ['--no-defaults', `--datadir=${data}`, '--user=root'];
  execFileSync('mariadb-install-db', [...own, '--skip-test-db', '--auth-root-authentication-method=normal'], {
    stdio: 'ignore',
  });
  const users = `CREATE DATABASE shop; CREATE USER ben@'127.0.0.1' IDENTIFIED BY 'secret-of-ben'; GRANT ALL ON shop.* TO ben@'127.0.0.1';`;
  writeFileSync(join(folder, 'init.sql'), users.replaceAll('; ', ';\n'));
  const port = await findFreePort();
  const args = [
    ...own,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${join(folder, 'init.sql')}`,
    '--innodb-flush-method=fsync',
    '--skip-name-resolve',
    `--ssl-cert=${cert}`,
    `--ssl-key=${key}`,
  ];
  const stop = await start(t, 'mariadbd', args, /ready for connections/);
  return { port, ca: pem, stop };
};

/** Starts a server that handles each connection with `behave`. Resolves to its port. */
export const startFake = async (t: Scope, behave: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    behave(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
};
