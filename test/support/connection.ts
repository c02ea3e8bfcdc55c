import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type HttpResponse, parseResponse } from './response.ts';

/** Milliseconds without data after which a server counts as hung, longer than any command may take. */
const timeout = 30_000;

export interface ConnectionOptions {
  localAddress?: string;
  /** Certificate to trust, in PEM, for an https URL. */
  ca?: string;
}

export interface Connection {
  /** Sends bytes unchanged. Each character of a string is a byte. */
  send(bytes: string | Buffer): void;
  /** Half-closes the connection. */
  end(): void;
  /** Waits for the next response. Undefined if the server closes the connection instead. */
  next(isHead?: boolean): Promise<HttpResponse | undefined>;
  /** Waits for the next `count` responses. */
  responses(count: number): Promise<HttpResponse[]>;
  /**
   * Waits until the server closes the connection. Resolves to the responses that have not been taken, and to all bytes
   * so far.
   */
  closed(): Promise<{ responses: HttpResponse[]; text: string }>;
  /** Stops reading, or resumes it. */
  pause(): void;
  resume(): void;
  destroy(): void;
  /** Resets the connection, as a crashing client would. */
  reset(): void;
  /** Bytes received after the responses taken so far. */
  unread(): string;
  /** True if another request can be sent. */
  isOpen(): boolean;
}

/** Opens a connection that sends the given bytes unchanged and accepts only well-formed responses. */
export const openConnection = (url: string, options: ConnectionOptions = {}): Connection => {
  const socket = openSocket(url, options);
  const received: Buffer[] = [];
  let unread: Buffer = Buffer.alloc(0);
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;
  socket.on('data', (piece: Buffer) => {
    received.push(piece);
    unread = unread.length === 0 ? piece : Buffer.concat([unread, piece]);
    wake();
  });
  socket.on('end', () => socket.end());
  socket.on('error', (error) => {
    // A connection that was reset counts as closed. A connection that was refused was never open.
    if (socket.connecting || socket.bytesWritten === 0) failure = error;
  });
  socket.on('close', () => {
    ended = true;
    wake();
  });
  /** Resolves once `look` returns a value. Calls `look` whenever bytes arrive. */
  const waitFor = <T>(look: () => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        wake = () => undefined;
        settle();
      };
      const fail = (error: unknown): void => {
        socket.destroy();
        finish(() => reject(error));
      };
      const timer = setTimeout(() => {
        fail(new Error(`${what} in ${timeout} ms; unread is ${JSON.stringify(unread.toString('latin1'))}`));
      }, timeout);
      wake = () => {
        try {
          const found = look();
          if (failure) fail(failure);
          else if (found !== undefined) finish(() => resolve(found));
        } catch (error) {
          fail(error);
        }
      };
      wake();
    });
  const take = (isHead: boolean): HttpResponse | undefined => {
    const parsed = parseResponse(unread, { isHead, ended });
    if (parsed) unread = parsed.rest;
    return parsed?.response;
  };
  const next = async (isHead = false): Promise<HttpResponse | undefined> => {
    const found = await waitFor(() => take(isHead) ?? (ended ? 'none' : undefined), 'no response');
    return found === 'none' ? undefined : found;
  };
  return {
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    end: () => void socket.end(),
    next,
    responses: async (count) => {
      const all: HttpResponse[] = [];
      while (all.length < count) {
        const response = await next();
        if (!response) throw new Error(`the connection is closed after ${all.length} of ${count} responses`);
        all.push(response);
      }
      return all;
    },
    closed: async () => {
      await waitFor(() => ended || undefined, 'the connection is not closed');
      const responses: HttpResponse[] = [];
      for (let one = take(false); one; one = take(false)) responses.push(one);
      if (unread.length > 0) throw new Error(`no response: ${JSON.stringify(unread.toString('latin1'))}`);
      return { responses, text: Buffer.concat(received).toString('latin1') };
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
    unread: () => unread.toString('latin1'),
    isOpen: () => !socket.destroyed && !socket.readableEnded,
  };
};

const openSocket = (url: string, { localAddress, ca }: ConnectionOptions): Socket => {
  const { protocol, hostname, port } = new URL(url);
  const target = {
    port: Number(port),
    host: hostname.replace(/[[\]]/g, ''),
    allowHalfOpen: true,
    noDelay: true,
    ...(localAddress !== undefined && { localAddress }),
  };
  return protocol === 'https:' ? connectTls({ ...target, ...(ca !== undefined && { ca }) }) : connect(target);
};

/** Sends the bytes on a separate connection. Resolves to all bytes received until the server closes the connection. */
export const sendRaw = async (url: string, request: string | Buffer): Promise<string> => {
  const connection = openConnection(url);
  connection.send(request);
  return (await connection.closed()).text;
};

/** Sends a GET with the path exactly as written, on a separate connection. */
export const getRaw = (url: string, path: string): Promise<string> =>
  sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
