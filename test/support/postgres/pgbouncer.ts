import { spawn } from 'node:child_process';
import { chownSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../free-port.ts';
import { atEnd, type Scope } from '../scope.ts';
import { waitUntil } from '../wait.ts';
import { ordinary } from './data-folder.ts';
import { createOwnedFolder, owner, toSkipPostgres } from './installation.ts';
import { type PostgresServer, runSql } from './server.ts';

const pgbouncer = '/usr/sbin/pgbouncer';

/** Returns the reason why PgBouncer cannot run here, or false if it can. CI has PgBouncer. */
export const toSkipPgBouncer = (): string | false =>
  toSkipPostgres() || (!existsSync(pgbouncer) && process.env['CI'] !== 'true' && 'pgbouncer is not installed');

/** Starts PgBouncer in the mode in which a client keeps a server connection for one transaction. Returns its URL. */
export const startPgBouncer = async (t: Scope, server: PostgresServer): Promise<string> => {
  const port = await findFreePort();
  const folder = createOwnedFolder();
  const { user, password, database } = ordinary;
  const files = {
    'users.txt': `"${user}" "${password}"\n`,
    'pgbouncer.ini': `[databases]
${database} = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 5
server_login_retry = 1
`,
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
    if (owner.uid !== undefined) chownSync(join(folder, name), owner.uid, owner.gid);
  }
  const child = spawn(pgbouncer, [join(folder, 'pgbouncer.ini')], { ...owner, stdio: 'ignore', cwd: '/' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  const url = `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  await waitUntil('PgBouncer answers', async () => {
    if (child.exitCode !== null) throw new Error('PgBouncer has ended');
    return runSql(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  });
  return url;
};
