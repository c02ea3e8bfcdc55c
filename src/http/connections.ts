import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { FairShares, type Holder } from './fair-shares.ts';
import {
  listBytes,
  type Patience,
  spareConnections,
  unreadResponseBytes,
  waitingBeforePause,
  waitingInTotalBeforePause,
  waitingRequests,
} from './limits.ts';

/** Milliseconds between the checks for connections that have become idle during shutdown. */
const idleCheckMs = 50;

/** Milliseconds of shutdown after which running requests are cut off. */
const patience = 8000;

/** Milliseconds after which a connection without a request counts as abandoned. */
const silence = 500;

/** A connection on which requests can arrive. */
export interface Connection {
  readonly socket: Socket;
  /** Opened beyond `maxConnections`: its requests are refused, and it is closed. */
  readonly isExtra: boolean;
  /** The response to the current or last request. */
  response: ServerResponse | undefined;
  /** Pipelined requests that wait for it. */
  waiting: number;
  /** Set with the last response: later bytes are ignored (RFC 9112, 9.6). */
  isEnding: boolean;
}

/** True while a request is running on the connection. */
const isRunning = ({ response }: Connection): boolean => response !== undefined && !response.writableFinished;

interface Admitted {
  accepted: Accepted;
  isExtra: boolean;
}

/** A socket as it was accepted; with TLS, requests arrive on another one. */
class Accepted implements Holder {
  readonly socket: Socket;
  /** When it was opened, or its TLS handshake completed. */
  since = performance.now();
  /** Missing until the TLS handshake is complete. */
  connection: Connection | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  lose(): void {
    (this.connection ?? this).socket.destroy();
  }

  /** Without a complete request, a connection counts as abandoned soon: it could keep other clients out for 10 s. */
  activity(): 'abandoned' | 'idle' | 'busy' {
    const { connection, since } = this;
    if (connection && (isRunning(connection) || connection.waiting > 0)) return 'busy';
    return !connection?.response && performance.now() - since > silence ? 'abandoned' : 'idle';
  }
}

/**
 * The connections of a server by socket: divides them between addresses, and closes them with the app. A trusted proxy
 * has the connections of many clients, so each of its connections counts as an address of its own.
 */
export class Connections extends Map<Socket, Connection> {
  readonly #isProxy: (address: string | undefined) => boolean;
  /** Connections that are served, and those beyond, whose requests are refused. */
  readonly #served: FairShares;
  readonly #spare = new FairShares(spareConnections);
  readonly #accepted = new Set<Socket>();
  /** Accepted sockets with an unfinished TLS handshake, by client address. */
  readonly #handshaking = new Map<string, Admitted>();

  /** Number of lists that are being sent in pieces. */
  lists = 0;

  constructor(server: Server, maximum: number, isProxy: (address: string | undefined) => boolean) {
    super();
    this.#isProxy = isProxy;
    this.#served = new FairShares(maximum);
    // One more than can stay open: it is closed here, or in its place one of an address that holds more.
    server.maxConnections = maximum + spareConnections + 1;
    const isTls = server instanceof TlsServer;
    server.on('connection', (socket) => {
      const admitted = this.#admit(socket);
      if (!admitted) socket.destroy();
      else if (isTls) keep(this.#handshaking, toClient(socket), admitted, socket);
      else this.#open(socket, admitted);
    });
    server.on('secureConnection', (socket) => {
      const admitted = this.#handshaking.get(toClient(socket));
      this.#handshaking.delete(toClient(socket));
      if (admitted) this.#open(socket, admitted);
      else socket.destroy();
    });
  }

  /** Counts a socket that was accepted; undefined if it must be closed. */
  #admit(socket: Socket): Admitted | undefined {
    const { remoteAddress } = socket;
    // The client reset the connection before it was accepted: it has no address to count or audit, and reads nothing.
    if (remoteAddress === undefined) return undefined;
    const accepted = new Accepted(socket);
    const isProxy = this.#isProxy(remoteAddress);
    for (const shares of [this.#served, this.#spare]) {
      const part = isProxy ? shares.takeApart(accepted) : shares.take(remoteAddress, accepted);
      if (!part) continue;
      this.#accepted.add(socket);
      socket.once('close', () => {
        this.#accepted.delete(socket);
        shares.release(part);
      });
      return { accepted, isExtra: shares === this.#spare };
    }
    return undefined;
  }

  /** Takes requests from a socket. */
  #open(socket: Socket, { accepted, isExtra }: Admitted): void {
    const connection = { socket, isExtra, response: undefined, waiting: 0, isEnding: false };
    accepted.since = performance.now();
    accepted.connection = connection;
    keep(this, socket, connection, socket);
  }

  /** Sends `100 Continue` to a client that waits for it before sending its body (RFC 9110, 10.1.1). */
  sendContinue({ socket, headers, httpVersion }: IncomingMessage): void {
    if (headers.expect !== undefined && httpVersion === '1.1') this.get(socket)?.response?.writeContinue();
  }

  /** Bytes of responses that clients have not read yet, over all connections. */
  countUnread(): number {
    let bytes = this.lists * listBytes;
    for (const { writableLength } of this.keys()) bytes += writableLength;
    return bytes;
  }

  /** Closes idle connections at once, and busy ones after their response or after 8 s. */
  end(server: Server): void {
    const endIdle = (): void => {
      for (const { accepted } of this.#handshaking.values()) accepted.socket.destroy();
      for (const connection of this.values()) {
        if (!isRunning(connection) && connection.waiting === 0) connection.socket.destroy();
      }
    };
    endIdle();
    const idle = setInterval(endIdle, idleCheckMs).unref();
    const all = setTimeout(() => this.#accepted.forEach((socket) => void socket.destroy()), patience).unref();
    server.once('close', () => {
      clearInterval(idle);
      clearTimeout(all);
    });
  }
}

/** Reading the address makes Node cache it; once the connection is reset, it is no longer available. */
const toClient = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Keeps an entry until the socket closes. */
const keep = <K, V>(entries: Map<K, V>, key: K, value: V, socket: Socket): void => {
  entries.set(key, value);
  socket.once('close', () => entries.delete(key));
};

/** Milliseconds between checks. */
const stallCheckMs = 1000;

/** The progress of a connection; times in milliseconds. */
export interface Progress {
  /** Bytes received, and bytes handed to the operating system. */
  read: number;
  taken: number;
  /** Whether there is more to send. */
  isWaiting: boolean;
  /** Since when the system has taken no bytes although more are waiting. */
  stuckSince: number;
  /** Since when nothing has been received, taken or running. */
  silentSince: number;
}

/** The current progress, from the socket and the progress at the previous check. */
export const toProgress = (
  { bytesRead: read, bytesWritten, writableLength }: Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'>,
  isBusy: boolean,
  before: Progress | undefined,
  now: number,
): Progress => {
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
  { isWaiting, stuckSince, silentSince }: Progress,
  { reading, silence }: Patience,
  now: number,
): boolean => (isWaiting && now - stuckSince > reading) || now - silentSince > silence;

/**
 * Closes stalled connections. While unread responses exceed their budget, clients that read nothing for a second are
 * disconnected too. Node's own timeout would take twice as long, and the system would keep its send buffer; a reset
 * discards it.
 */
export const endStalled = (server: Server, connections: Connections, patience: Patience): void => {
  let timer: NodeJS.Timeout | undefined;
  const known = new WeakMap<Connection, Progress>();
  const check = (): void => {
    if (connections.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const now = performance.now();
    const isFull = connections.countUnread() > unreadResponseBytes;
    for (const connection of connections.values()) {
      // Waiting for the client to read is not work.
      const isBusy = isRunning(connection) && connection.socket.writableLength === 0;
      const progress = toProgress(connection.socket, isBusy, known.get(connection), now);
      known.set(connection, progress);
      const reading = isFull ? Math.min(patience.reading, stallCheckMs / 2) : patience.reading;
      if (isStalled(progress, { ...patience, reading }, now)) reset(connection.socket);
    }
  };
  // An idle server does not wake up for it.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, () => {
      timer ??= setInterval(check, stallCheckMs).unref();
    });
  }
  server.once('close', () => clearInterval(timer));
};

/** Only a plain TCP socket can be reset. */
const reset = (socket: Socket): void => void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());

/**
 * Runs the requests of a connection one at a time. Node would start pipelined requests at once, so a read sent after a
 * change could return the old state (RFC 9112, 9.3.2). While more than a few wait, reading from the connection pauses;
 * if too many wait, on it or in total, it is closed. The returned function is for requests that must wait, and calls
 * `begin` when it is their turn.
 */
export const createPipelining = () => {
  let inTotal = 0;
  const known = new WeakSet<Connection>();
  const change = (connection: Connection, count: number): void => {
    inTotal += count;
    connection.waiting += count;
  };
  const isFull = ({ waiting }: Connection): boolean =>
    waiting > waitingBeforePause || (waiting > 0 && inTotal > waitingInTotalBeforePause);
  const enqueue = (connection: Connection): void => {
    const { socket } = connection;
    change(connection, 1);
    if (!known.has(connection)) {
      known.add(connection);
      socket.once('close', () => change(connection, -connection.waiting));
      // Node resumes reading after each request that arrives or ends.
      socket.on('resume', () => isFull(connection) && socket.pause());
    }
    if (connection.waiting > waitingRequests.perConnection || inTotal > waitingRequests.inTotal) {
      socket.destroy();
    } else if (isFull(connection)) socket.pause();
  };
  const dequeue = (connection: Connection): void => {
    change(connection, -1);
    if (!isFull(connection) && connection.socket.isPaused()) connection.socket.resume();
  };
  return (connection: Connection, response: ServerResponse, begin: () => void): void => {
    // The parser still delivers the other requests of its chunk.
    if (connection.socket.destroyed) return;
    enqueue(connection);
    response.once('socket', () => {
      dequeue(connection);
      begin();
    });
  };
};
