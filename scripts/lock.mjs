import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs an action while no other process on this machine runs one for the same folder; calls `onWait` if it has to wait.
 * The lock is a socket, which the kernel closes when its process ends in any way.
 */
export const withLock = async (folder, action, onWait) => {
  const address = toAddress(folder);
  let holder = await listen(address);
  if (!holder) onWait();
  for (; !holder; holder = await listen(address)) await waitForEnd(address);
  try {
    return await action();
  } finally {
    await holder.release();
  }
};

const toAddress = (folder) => {
  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `signalbox-build-${dev}-${ino}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
};

/** Resolves to the held lock, or to undefined if another process has it. */
const listen = (address) =>
  new Promise((resolve, reject) => {
    const waiting = new Set();
    const server = createServer((socket) => {
      socket.on('error', () => undefined).on('close', () => waiting.delete(socket));
      waiting.add(socket.unref());
    });
    const release = () =>
      new Promise((released) => {
        server.close(released);
        for (const socket of waiting) socket.destroy();
      });
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen({ path: address, exclusive: true }, () => resolve({ release }));
    server.unref();
  });

/** Resolves once the process that has the lock releases it or ends. */
const waitForEnd = (address) =>
  new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.resume().once('close', resolve);
    socket.once('error', ({ code }) => {
      if (code === 'EACCES') reject(new Error(`the lock ${address} belongs to another user`));
      // On macOS the socket is a file, which remains after its process has ended.
      else if (code === 'ECONNREFUSED' && process.platform !== 'linux') rm(address, { force: true }).then(resolve);
    });
  });
