import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { promisify } from 'node:util';
import { findFreePort } from '../../test/support/free-port.ts';
import { startProgram } from '../support/program.ts';
import type { Connection, Peer } from './peer.ts';

const run = promisify(execFile);
const maxBuffer = 1024 ** 3;

/** Redis with its append-only file: each record is appended to one list. */
export const createRedis = (appendfsync: 'always' | 'everysec'): Peer => ({
  name: `Redis, appendfsync ${appendfsync}`,
  start: async (folder) => {
    const port = await findFreePort();
    const flags = { bind: '127.0.0.1', port, dir: folder, appendonly: 'yes', appendfsync, save: '' };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const ask = async (...words: string[]): Promise<string> => {
      const { stdout } = await run('redis-cli', ['-p', String(port), '--raw', ...words], { maxBuffer });
      return stdout.trim();
    };
    const isReady = () =>
      ask('PING').then(
        (answer) => answer === 'PONG',
        () => false,
      );
    const { kill } = await startProgram('redis-server', args, isReady);
    return {
      kill,
      connect: () => connect(port),
      list: async () => (await ask('LRANGE', 'alerts', '0', '-1')).split('\n'),
    };
  },
});

const connect = async (port: number): Promise<Connection> => {
  const socket = connectTo(port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return {
    // A number is the length of the list; an error begins with a minus sign.
    send: (record) =>
      new Promise((resolve) => {
        const settle = (isKept: boolean): void => {
          socket.off('data', onData).off('close', onClose);
          resolve(isKept);
        };
        const onData = (answer: string): void => settle(answer.startsWith(':'));
        const onClose = (): void => settle(false);
        if (socket.destroyed) return resolve(false);
        socket.on('data', onData).on('close', onClose);
        socket.write(`RPUSH alerts ${record}\r\n`);
      }),
    close: () => socket.destroy(),
  };
};
