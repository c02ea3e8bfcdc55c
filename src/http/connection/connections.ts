import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { listBytes, spareConnections } from './limits.ts';

/** Milliseconds between the checks for connections that have become idle during shutdown. */
const interval = 50;

/** Milliseconds of shutdown after which running requests are cut off. */
const patience = 8000;

/** Milliseconds that a connection may take for its first request before it makes room for others. */
const silence = 500;

/** A connection on which requests can arrive. */
export interface Connection {
  readonly socket: Socket;
  /** Past `maxConnections`: its requests are refused, and it is closed. */
  readonly isExtra: boolean;
  /** The response to the request that runs, or ran last. */
  response: ServerResponse | undefined;
  /** Requests that wait for that one. */
  waiting: number;
  /** Set with the last response: what comes behind it is ignored (RFC 9112, 9.6). */
  isEnding: boolean;
}

/** Whether a request is being answered on the connection. */
export const isRunning = ({ response }: Connection): boolean => response !== undefined && !response.writableFinished;

/** The connections of a server by the socket of their requests: counted, and ended with the app. */
export class Connections extends Map<Socket, Connection> {
  readonly #maximum: number;
  /** Sockets as accepted; with TLS, requests come on others. */
  readonly #accepted = new Set<Socket>();
  /** Accepted sockets whose TLS handshake is not finished, by the address of their client. */
  readonly #handshaking = new Map<string, Socket>();
  /** When sockets were opened on which no whole request was seen to have arrived, oldest first. */
  readonly #silentSince = new Map<Socket, number>();

  /** Lists that are being sent in pieces. */
  lists = 0;

  constructor(server: Server, maximum: number) {
    super();
    this.#maximum = maximum;
    server.maxConnections = maximum + spareConnections;
    const isTls = server instanceof TlsServer;
    server.on('drop', () => this.#makeRoom());
    server.on('connection', (socket) => {
      // With two listeners, each of them accepts as many.
      if (this.#accepted.size >= maximum + spareConnections) socket.destroy();
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
      if (this.#accepted.size > maximum) this.#makeRoom();
      keep(this.#silentSince, socket, performance.now(), socket);
      if (isTls) keep(this.#handshaking, toClient(socket), socket, socket);
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket) => {
      // Reset before it was accepted: its requests have no address to be counted or audited under, and no reader.
      if (socket.remoteAddress === undefined) {
        socket.destroy();
        return;
      }
      const handshaken = this.#handshaking.get(toClient(socket));
      if (handshaken) {
        this.#handshaking.delete(toClient(socket));
        this.#silentSince.delete(handshaken);
        keep(this.#silentSince, socket, performance.now(), socket);
      }
      const isExtra = this.#accepted.size > this.#maximum;
      const connection = { socket, isExtra, response: undefined, waiting: 0, isEnding: false };
      keep(this, socket, connection, socket);
    });
  }

  /** Closes the oldest connection that has sent no whole request: idle ones would keep everybody out for 10 s. */
  #makeRoom(): void {
    for (const [socket, since] of this.#silentSince) {
      const isSilent = this.get(socket)?.response === undefined;
      if (isSilent && performance.now() - since < silence) return;
      this.#silentSince.delete(socket);
      if (!isSilent) continue;
      socket.destroy();
      this.#accepted.delete(socket);
      return;
    }
  }

  /** Tells a client that waits for `100 Continue` to send its body (RFC 9110, 10.1.1). */
  sendContinue({ socket, headers, httpVersion }: IncomingMessage): void {
    if (headers.expect !== undefined && httpVersion === '1.1') this.get(socket)?.response?.writeContinue();
  }

  /** Bytes of responses that wait for their readers, over all connections. */
  countUnread(): number {
    let bytes = this.lists * listBytes;
    for (const { writableLength } of this.keys()) bytes += writableLength;
    return bytes;
  }

  /** Ends idle and half-read connections at once, and busy ones after their response or after some seconds. */
  end(server: Server): void {
    const endIdle = (): void => {
      for (const socket of this.#handshaking.values()) socket.destroy();
      for (const connection of this.values()) {
        if (!isRunning(connection) && connection.waiting === 0) connection.socket.destroy();
      }
    };
    endIdle();
    const idle = setInterval(endIdle, interval).unref();
    const all = setTimeout(() => this.#accepted.forEach((socket) => void socket.destroy()), patience).unref();
    server.once('close', () => {
      clearInterval(idle);
      clearTimeout(all);
    });
  }
}

/** Reading the address makes Node remember it: a connection that was reset no longer has one. */
const toClient = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Keeps an entry until the socket closes. */
const keep = <K, V>(entries: Map<K, V>, key: K, value: V, socket: Socket): void => {
  entries.set(key, value);
  socket.once('close', () => entries.delete(key));
};
