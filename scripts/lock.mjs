import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs an action while no other process on this machine runs one for the same folder, and says so if it has to wait. The
 * lock is a socket, which the kernel closes when its process ends in any way.
 */
export const withLock = async (folder, action) => {
  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `signalbox-build-${dev}-${ino}`;
  const places = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` };
  const path = places[process.platform] ?? join(tmpdir(), name);
  const server = createServer((socket) => socket.on('error', () => undefined).unref()).unref();
  for (let waits = 0; !(await listen(server, path)); waits += 1) {
    if (waits === 0) process.stderr.write('Waiting for another command that is building here ...\n');
    await waitForEnd(path);
  }
  const sockets = new Set();
  server.on('connection', (socket) => sockets.add(socket));
  try {
    return await action();
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
};

/** True if the server has the lock now; false if another process has it. */
const listen = (server, path) =>
  new Promise((resolve, reject) => {
    const fail = (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error));
    server.once('error', fail).listen({ path, exclusive: true }, () => {
      server.off('error', fail);
      resolve(true);
    });
  });

/** Resolves once the process that has the lock releases it or ends. */
const waitForEnd = (path) =>
  new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.resume().once('close', resolve);
    socket.once('error', ({ code }) => {
      if (code === 'EACCES') reject(new Error(`the lock ${path} belongs to another user`));
      // On macOS the socket is a file, which remains after its process has ended.
      else if (code === 'ECONNREFUSED' && process.platform === 'darwin') rm(path, { force: true }).then(resolve);
    });
  });
