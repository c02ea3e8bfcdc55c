import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { FairShares, type Holder } from './fair-shares.ts';

/** Number of connections beyond `maxConnections` that get a 503. Any further connections are closed immediately. */
const spareConnections = 100;

/**
 * Maximum number of unread bytes in the responses of all connections. Above this limit, large responses are refused.
 */
export const unreadResponseBytes = 64 * 1024 * 1024;

/** Bytes that count as unread for each list that is being sent, because a list builds some pieces ahead. */
const listBytes = 256 * 1024;

/**
 * Limits for waiting pipelined requests, per connection and in total. Beyond the first limit, reading pauses. Beyond
 * the second, the connection is closed.
 */
const waitingLimits = { pause: 8, close: 500, pauseInTotal: 1000, closeInTotal: 10_000 };

/** Milliseconds between two searches for idle connections during shutdown. */
const idleCheckMs = 50;

/** Milliseconds after the beginning of shutdown at which running requests are cut off. */
const shutdownMs = 8000;

/** Milliseconds after which a connection without a request counts as abandoned. */
const abandonedMs = 500;

/** Connection, from the acceptance of its socket onwards. */
export class HttpConnection implements Holder {
  /** Socket for requests. With TLS, this is the TLS socket once the handshake is complete. */
  socket: Socket;
  /** True for a connection beyond `maxConnections`. Its requests are refused, and then it is closed. */
  readonly isExtra: boolean;
  /** Time at which the connection was opened or its TLS handshake completed. */
  since = performance.now();
  /** Response to the current or last request. */
  response: ServerResponse | undefined;
  /** Number of pipelined requests that are waiting on the connection. */
  waiting = 0;
  hasWaited = false;
  /** Set with the last response. Further bytes are then ignored (RFC 9112, 9.6). */
  isEnding = false;
  progress: ConnectionProgress | undefined;

  constructor(socket: Socket, isExtra: boolean) {
    this.socket = socket;
    this.isExtra = isExtra;
  }

  /** True while a request is running on the connection. */
  get isRunning(): boolean {
    return this.response !== undefined && !this.response.writableFinished;
  }

  lose(): void {
    this.socket.destroy();
  }

  /**
   * Returns `abandoned` for a connection without a complete request for 500 ms. Such a connection could keep other
   * clients out for 10 s.
   */
  activity(): 'abandoned' | 'idle' | 'busy' {
    if (this.isRunning || this.waiting > 0) return 'busy';
    return !this.response && performance.now() - this.since > abandonedMs ? 'abandoned' : 'idle';
  }
}

/**
 * Connections of a server, by the socket on which requests arrive. Divides the connections between addresses, and
 * closes them with the app. A trusted proxy carries many clients, so each of its connections counts as a separate
 * address.
 */
export class Connections extends Map<Socket, HttpConnection> {
  readonly #server: Server;
  readonly #isProxy: (address: string | undefined) => boolean;
  /** Served connections, and extra connections whose requests are refused. */
  readonly #served: FairShares;
  readonly #spare = new FairShares(spareConnections);
  readonly #accepted = new Set<HttpConnection>();
  /** Connections with an unfinished TLS handshake, by client address. */
  readonly #handshaking = new Map<string, HttpConnection>();

  /** Number of lists that are being sent in pieces. */
  lists = 0;

  constructor(server: Server, maximum: number, isProxy: (address: string | undefined) => boolean) {
    super();
    this.#server = server;
    this.#isProxy = isProxy;
    this.#served = new FairShares(maximum);
    // Accepts one connection beyond the maximum, then closes either that connection or one from an address that holds
    // more.
    server.maxConnections = maximum + spareConnections + 1;
    const isTls = server instanceof TlsServer;
    server.on('connection', (socket) => {
      const connection = this.#admit(socket);
      if (!connection) socket.destroy();
      else if (isTls) keep(this.#handshaking, toClient(socket), connection, socket);
      else keep(this, socket, connection, socket);
    });
    server.on('secureConnection', (socket) => {
      const connection = this.#handshaking.get(toClient(socket));
      this.#handshaking.delete(toClient(socket));
      if (!connection) {
        socket.destroy();
        return;
      }
      connection.socket = socket;
      connection.since = performance.now();
      keep(this, socket, connection, socket);
    });
  }

  /** Counts an accepted socket. Returns undefined if the socket must be closed. */
  #admit(socket: Socket): HttpConnection | undefined {
    // Clients of a Unix socket have no addresses, so they share one place.
    const isLocal = typeof this.#server.address() === 'string';
    const { remoteAddress = isLocal ? 'local' : undefined } = socket;
    // The client reset the connection before it was accepted, so it reads nothing and has no address to count or audit.
    if (remoteAddress === undefined) return undefined;
    const isProxy = this.#isProxy(remoteAddress);
    for (const shares of [this.#served, this.#spare]) {
      const connection = new HttpConnection(socket, shares === this.#spare);
      const share = isProxy ? shares.takeApart(connection) : shares.take(remoteAddress, connection);
      if (!share) continue;
      this.#accepted.add(connection);
      socket.once('close', () => {
        this.#accepted.delete(connection);
        shares.release(share);
      });
      return connection;
    }
    return undefined;
  }

  /** Sends `100 Continue` to a client that waits for it before sending its body (RFC 9110, 10.1.1). */
  sendContinue({ socket, headers, httpVersion }: IncomingMessage): void {
    if (headers.expect !== undefined && httpVersion === '1.1') this.get(socket)?.response?.writeContinue();
  }

  /** Counts the bytes of responses that clients have not read yet, on all connections. */
  countUnread(): number {
    let bytes = this.lists * listBytes;
    for (const { writableLength } of this.keys()) bytes += writableLength;
    return bytes;
  }

  /** Closes idle connections immediately. Closes busy connections after their response, or after 8 s. */
  end(server: Server): void {
    const endIdle = (): void => {
      for (const { isRunning, waiting, socket } of this.#accepted) if (!isRunning && waiting === 0) socket.destroy();
    };
    endIdle();
    const idle = setInterval(endIdle, idleCheckMs).unref();
    const all = setTimeout(() => {
      for (const { socket } of this.#accepted) socket.destroy();
    }, shutdownMs).unref();
    server.once('close', () => {
      clearInterval(idle);
      clearTimeout(all);
    });
  }
}

/** Reads the address early so that Node caches it. It is not available after a reset. */
const toClient = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Keeps an entry until the socket closes. */
const keep = <K>(entries: Map<K, HttpConnection>, key: K, connection: HttpConnection, socket: Socket): void => {
  entries.set(key, connection);
  socket.once('close', () => entries.delete(key));
};

/** Milliseconds between checks. */
const stallCheckMs = 1000;

/** Milliseconds for which a connection may stall: while its client reads nothing, and while nothing happens at all. */
interface ConnectionPatience {
  reading: number;
  silence: number;
}

/** Progress of a connection. Times are in milliseconds. */
export interface ConnectionProgress {
  /** Bytes received, and bytes passed to the operating system. */
  read: number;
  taken: number;
  /** True if more bytes are waiting to be sent. */
  isWaiting: boolean;
  /** Time since which the operating system has accepted no bytes although more are waiting. */
  stuckSince: number;
  /** Time since which nothing has been received, sent or running. */
  silentSince: number;
}

/** Returns the current progress, based on the socket and the progress at the previous check. */
export const toProgress = (
  { bytesRead: read, bytesWritten, writableLength }: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'>,
  isBusy: boolean,
  before: ConnectionProgress | undefined,
  now: number,
): ConnectionProgress => {
  const taken = bytesWritten - writableLength;
  const isWaiting = writableLength > 0;
  const isStuck = before?.isWaiting && isWaiting && before.taken === taken;
  const isSilent = !isBusy && before?.read === read && before.taken === taken;
  return {
    read,
    taken,
    isWaiting,
    stuckSince: isStuck ? before.stuckSince : now,
    silentSince: isSilent ? before.silentSince : now,
  };
};

/** True if the client has read nothing, or nothing has happened at all, for longer than allowed. */
export const isStalled = (
  { isWaiting, stuckSince, silentSince }: ConnectionProgress,
  { reading, silence }: ConnectionPatience,
  now: number,
): boolean => (isWaiting && now - stuckSince > reading) || now - silentSince > silence;

/**
 * Closes stalled connections. While unread responses exceed their budget, also disconnects clients that read nothing
 * for a second. Resets connections, because the operating system then discards its send buffer. Node's own timeout
 * would take twice as long and keep that buffer.
 */
export const endStalled = (server: Server, connections: Connections, patience: ConnectionPatience): void => {
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    if (connections.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const now = performance.now();
    const isFull = connections.countUnread() > unreadResponseBytes;
    const reading = isFull ? Math.min(patience.reading, stallCheckMs / 2) : patience.reading;
    for (const connection of connections.values()) {
      const { socket, isRunning } = connection;
      // A wait for the client to read does not count as work.
      connection.progress = toProgress(socket, isRunning && socket.writableLength === 0, connection.progress, now);
      if (isStalled(connection.progress, { ...patience, reading }, now)) reset(socket);
    }
  };
  // The timer starts only with a connection, so that an idle server does not wake up.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, () => {
      timer ??= setInterval(check, stallCheckMs).unref();
    });
  }
  server.once('close', () => clearInterval(timer));
};

/** Resets the connection. This is possible only for a plain TCP socket. */
const reset = (socket: Socket): void => void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());

/**
 * Creates a function that runs the requests of a connection one at a time. Node would start pipelined requests
 * immediately, so that a read sent after a change could return the old state (RFC 9112, 9.3.2). While more than a few
 * requests wait, reading from the connection pauses. If too many wait, on the connection or in total, the connection is
 * closed. The returned function takes a request that must wait, and calls `begin` when its turn comes.
 */
export const createPipelining = () => {
  let inTotal = 0;
  const change = (connection: HttpConnection, count: number): void => {
    inTotal += count;
    connection.waiting += count;
  };
  const isFull = ({ waiting }: HttpConnection): boolean =>
    waiting > waitingLimits.pause || (waiting > 0 && inTotal > waitingLimits.pauseInTotal);
  const enqueue = (connection: HttpConnection): void => {
    const { socket } = connection;
    change(connection, 1);
    if (!connection.hasWaited) {
      connection.hasWaited = true;
      socket.once('close', () => change(connection, -connection.waiting));
      // Node resumes reading after each request that arrives or ends.
      socket.on('resume', () => isFull(connection) && socket.pause());
    }
    if (connection.waiting > waitingLimits.close || inTotal > waitingLimits.closeInTotal) socket.destroy();
    else if (isFull(connection)) socket.pause();
  };
  return (connection: HttpConnection, response: ServerResponse, begin: () => void): void => {
    // The parser still delivers the remaining requests of its chunk.
    if (connection.socket.destroyed) return;
    enqueue(connection);
    response.once('socket', () => {
      change(connection, -1);
      if (!isFull(connection) && connection.socket.isPaused()) connection.socket.resume();
      begin();
    });
  };
};
