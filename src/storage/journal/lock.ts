import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { replaceFile } from '../replaced-file.ts';
import { codeOf, JournalError, passIfGone } from './errors.ts';

/** Maximum length of a socket path on macOS, slightly less than on Linux. Node silently cuts longer paths. */
const maxAddressBytes = 103;

/** Lock that is held until `release` or the end of the process. The kernel releases it however the process ends. */
export interface Lock {
  release(): Promise<void>;
}

interface Claim {
  address: string;
  /** True if the address is a file. The file remains after a kill. */
  file: boolean;
  /** True if the lock still works within the network namespace without this socket. */
  optional: boolean;
}

/**
 * Makes this process the only writer of `name` in the directory. On Linux, binds two sockets. The abstract socket is
 * named after the directory's device, inode and secret, and is unique per network namespace. The socket `file` also
 * excludes other containers that share the volume. If `file` cannot be a socket, only the abstract socket is bound.
 * Throws a JournalError with the code `locked` if another process holds the lock.
 */
export const lockDirectory = async (
  directory: string,
  name: string,
  file: string,
  platform: NodeJS.Platform = process.platform,
): Promise<Lock> => {
  const { dev, ino } = await stat(directory, { bigint: true });
  const servers: Server[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(servers.map(closeServer));
  };
  try {
    const hash = createHash('sha256').update(`${dev} ${ino} ${name} ${readSecret(directory)}`);
    for (const claim of listClaims(platform, `signalbox-${hash.digest('hex').slice(0, 32)}`, file)) {
      servers.push(...(await bind(claim, directory)));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
};

/**
 * Returns a secret that only the directory's owner can read. The first process creates it. Without a secret, other
 * users could derive the name of the socket from device and inode, and bind it to block every start. Empty if the
 * secret cannot be written.
 */
const readSecret = (directory: string): string => {
  const path = join(directory, 'lock.key');
  const known = readIfThere(path);
  if (known) return known;
  try {
    replaceFile(path, randomUUID());
  } catch {
    // The disk may be full, or another process may have been faster.
  }
  return readIfThere(path);
};

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return passIfGone(error) ?? '';
  }
};

/** Returns the sockets to bind on a platform. */
export const listClaims = (platform: NodeJS.Platform, name: string, file: string): Claim[] => {
  switch (platform) {
    case 'linux':
      return [
        { address: `\0${name}`, file: false, optional: false },
        { address: file, file: true, optional: true },
      ];
    case 'win32':
      return [{ address: `\\\\.\\pipe\\${name}`, file: false, optional: false }];
    default:
      return [{ address: file, file: true, optional: false }];
  }
};

const bind = async ({ address, file, optional }: Claim, directory: string): Promise<Server[]> => {
  try {
    if (file) await removeLeftover(address);
    return [await listen(address)];
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') {
      throw new JournalError('locked', `${directory} is in use by another signalbox process`);
    }
    if (optional) return [];
    throw error;
  }
};

const removeLeftover = async (file: string): Promise<void> => {
  if (Buffer.byteLength(file) > maxAddressBytes) {
    throw new JournalError(
      'unusable',
      `the path ${file} is too long for a socket: choose a folder with a shorter path`,
    );
  }
  if (!(await isAnswered(file))) await rm(file, { force: true });
};

const isAnswered = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const listen = (path: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => resolve(server.unref()));
  });

const closeServer = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
