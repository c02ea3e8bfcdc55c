import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Clients without a token that try to exhaust a server. They hold their connections until `end`. */
export interface Attack {
  /** Number of connections opened. */
  clients: number;
  /** Resolves once each connection is closed, or has sent everything and received any expected response. */
  sent: Promise<unknown>;
  /** Closes every connection. */
  end(): void;
}

/** Number of connections opened together. With more, some would have to wait in the backlog for a second. */
const step = 50;

const mebibyte = 1024 * 1024;

/** Pieces that a client sends in order. Each is sent once the kernel has accepted the previous piece. */
type Pieces = Iterable<string | Buffer>;

/** Opens a connection. Resolves once the connection is open or refused. */
const open = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  // The server may close the connection at any time.
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  return socket;
};

/** Sends the pieces without reading. Resolves once they are sent or the connection is closed. */
const sendAll = async (socket: Socket, pieces: Pieces): Promise<void> => {
  const closed = socket.closed ? Promise.resolve() : once(socket, 'close').catch(() => undefined);
  for (const piece of pieces) {
    const taken = new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await Promise.race([taken, closed]);
    if (socket.destroyed) return;
  }
};

/** Reads the beginning of a response. Resolves once it has arrived or the connection is closed. */
const waitForResponse = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    socket.once('readable', resolve).once('close', resolve);
  });

/** Opens connections, and sends on each the pieces that `toPieces` returns for it. */
const attack = async (
  url: string,
  clients: number,
  toPieces: (client: number) => Pieces,
  waits = false,
): Promise<Attack> => {
  const sockets: Socket[] = [];
  const sending: Promise<void>[] = [];
  while (sockets.length < clients) {
    const size = Math.min(step, clients - sockets.length);
    for (const socket of await Promise.all(Array.from({ length: size }, () => open(url)))) {
      const sent = sendAll(socket, toPieces(sockets.length));
      sending.push(waits ? sent.then(() => waitForResponse(socket)) : sent);
      sockets.push(socket);
    }
  }
  return {
    clients,
    sent: Promise.all(sending),
    end: () => sockets.forEach((socket) => void socket.destroy()),
  };
};

const repeat = function* (piece: Buffer, count: number): Generator<Buffer> {
  for (let sent = 0; sent < count; sent += 1) yield piece;
};

/** Repeats the request to fill about one write. */
const toBatch = (request: string, bytes: number): Buffer =>
  Buffer.from(request.repeat(Math.ceil(bytes / request.length)), 'latin1');

/**
 * Pipelines 498 requests per connection, each with 3,990 empty header lines. These are 8 MB that expand a hundredfold.
 */
export const pipelineHeaderLines = (url: string, clients: number): Promise<Attack> => {
  const request = Buffer.from(`GET /api/processes HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(3990)}\r\n`);
  return attack(url, clients, () => repeat(request, 498));
};

/** Pipelines requests with the maximum number of header lines at maximum length. */
export const pipelineLongHeaders = (url: string, clients: number): Promise<Attack> => {
  const lines = Array.from({ length: 190 }, (_, index) => `x-${index}: ${'v'.repeat(70)}\r\n`).join('');
  const request = Buffer.from(`GET /api/processes HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`);
  return attack(url, clients, () => repeat(request, 498));
};

/** Sends 20 MB of 41-byte requests on each connection. */
export const pipelineShortRequests = (url: string, clients: number): Promise<Attack> => {
  const batch = toBatch('GET /api/tasks HTTP/1.1\r\nHost:localhost\r\n\r\n', mebibyte);
  return attack(url, clients, () => repeat(batch, 20));
};

/** Opens connections that send nothing. */
export const stayIdle = (url: string, clients: number): Promise<Attack> => attack(url, clients, () => []);

/** Makes each client request one of the paths in turn and never read the response. */
export const stopReading = (url: string, clients: number, paths: readonly string[]): Promise<Attack> =>
  attack(url, clients, (client) => [toGet(paths[client % paths.length] ?? '/')], true);

/** Sends 1 MiB bodies without their last byte. */
export const leaveBodiesUnfinished = (url: string, clients: number): Promise<Attack> => {
  const head = `POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${mebibyte}\r\n\r\n`;
  const body = Buffer.alloc(mebibyte - 1, ' ');
  return attack(url, clients, () => [head, body]);
};

/** Sends 1 MiB bodies without their last byte, in one-byte chunks. */
export const leaveChunksUnfinished = (url: string, clients: number): Promise<Attack> => {
  const head = 'POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  const body = Buffer.from('1\r\n \r\n'.repeat(mebibyte - 1));
  return attack(url, clients, () => [head, body]);
};

/** Requests lists that read much of the log and match nothing, one after another on each connection. */
export const listAlerts = (url: string, clients: number): Promise<Attack> => {
  const request = toGet('/api/alerts?count=10000&level=x');
  return attack(url, clients, () => repeat(Buffer.from(request), 20), true);
};

/**
 * Sends the request on separate connections, one after another, and resets each connection. The server may see the
 * reset before it has accepted the connection. With `greets`, the client first waits for another response.
 */
export const sendAndReset = async (url: string, count: number, request: string, greets = false): Promise<void> => {
  for (let sent = 0; sent < count; sent += 1) {
    const socket = await open(url);
    if (greets) {
      socket.write(toGet('/health'));
      await once(socket, 'data');
    }
    await sendAll(socket, [request]);
    socket.resetAndDestroy();
    if (!socket.closed) await once(socket, 'close');
  }
};

/** Returns a POST with a JSON body in the form in which it is sent. */
export const toPost = (path: string, value: object, token?: string): string => {
  const body = JSON.stringify(value);
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: ${body.length}\r\n\r\n${body}`;
};

/** Login that fails after its password has been checked. */
export const login = toPost('/api/auth/login', { Username: 'admin', Password: 'wrong' });

const toGet = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
