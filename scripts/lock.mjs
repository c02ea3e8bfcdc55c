import { once } from 'node:events';
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { root } from './install.mjs';

/**
 * Runs an action while no other process on this machine runs one for this checkout; prints a line if it has to wait.
 * The lock is a socket, which the kernel closes when its process ends in any way.
 */
export const withLock = async (action) => {
  const { dev, ino } = statSync(root, { bigint: true });
  const name = `signalbox-build-${dev}-${ino}`;
  const places = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` };
  const path = places[process.platform] ?? join(tmpdir(), name);
  const server = createServer((socket) => socket.destroy()).unref();
  for (let waits = 0; !(await listen(server, path)); waits += 1) {
    if (waits === 0) process.stderr.write('Waiting for another command that is building here ...\n');
    await setTimeout(200);
    // On systems other than Linux and Windows the socket is a file, which remains after its process has ended.
    if (places[process.platform] === undefined && (await isLeft(path))) await rm(path, { force: true });
  }
  try {
    return await action();
  } finally {
    server.close();
  }
};

/** Resolves to true if the server now has the lock; false if another process has it. */
const listen = (server, path) =>
  once(server.listen({ path, exclusive: true }), 'listening').then(
    () => true,
    (error) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );

const isLeft = (path) =>
  once(connect(path).resume(), 'connect').then(
    () => false,
    ({ code }) => code === 'ECONNREFUSED',
  );
