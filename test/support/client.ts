import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import type { HttpResponse } from './response.ts';

export interface JsonResponse<T> {
  status: number;
  /** Headers with names in lower case. */
  headers: Record<string, string>;
  text: string;
  /** Body parsed as JSON. Undefined if it is not JSON. */
  json: T;
}

interface RequestOptions {
  /** Body. Text and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
  /**
   * Headers that are sent unchanged and in order, after Host, Authorization and Content-Length. A header `host`
   * replaces Host.
   */
  headers?: Record<string, string>;
  token?: string | undefined;
}

/** Sends a request as written: the path is not normalized, and only Host and Content-Length are added. */
export type Request = <T = Record<string, unknown>>(
  method: string,
  path: string,
  options?: RequestOptions,
) => Promise<JsonResponse<T>>;

interface Sending {
  /** True if the response has no body because the method is HEAD. */
  isHead?: boolean;
  /** Uses a separate connection for this request. */
  alone?: boolean;
  /** Half-closes the connection after the bytes. */
  ends?: boolean;
}

export interface Client {
  request: Request;
  /** Sends bytes and resolves to the response. Undefined if the connection closes without a response. */
  send(bytes: Buffer, how?: Sending): Promise<HttpResponse | undefined>;
  close(): void;
}

interface Options extends ConnectionOptions {
  connections?: number;
}

/** Creates a client that keeps its connections open, and opens another connection if all are in use. */
export const createClient = (url: string, { connections = 1000, ...options }: Options = {}): Client => {
  const { host } = new URL(url);
  const pool = createPool(() => openConnection(url, options), connections);
  const send = async (bytes: Buffer, { isHead = false, alone = false, ends = false }: Sending = {}) => {
    const connection = await pool.take(alone);
    let isKept = false;
    try {
      connection.send(bytes);
      if (ends) connection.end();
      const response = await connection.next(isHead);
      const isReusable = response !== undefined && response.headers.get('connection') !== 'close';
      if (alone || ends || !isReusable) return response;
      if (connection.unread() !== '') throw new Error(`bytes follow the response: ${connection.unread()}`);
      isKept = true;
      return response;
    } finally {
      pool.give(connection, isKept);
    }
  };
  const request: Request = async <T>(method: string, path: string, sent: RequestOptions = {}) => {
    const response = await send(writeRequest(method, path, host, sent), { isHead: method === 'HEAD' });
    if (!response) throw new Error(`${method} ${path}: the connection is closed without a response`);
    const text = response.body.toString();
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, text, json: readJson(text) as T };
  };
  return { request, send, close: pool.close };
};

const writeRequest = (
  method: string,
  path: string,
  host: string,
  { body, headers = {}, token }: RequestOptions,
): Buffer => {
  const content = toContent(body);
  const all = {
    host,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(content && { 'content-length': String(content.length) }),
    ...headers,
  };
  const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  if (/[^\0-\xff]/.test(head)) throw new Error(`characters that are not bytes: ${JSON.stringify(head)}`);
  return Buffer.concat([Buffer.from(head, 'latin1'), content ?? Buffer.alloc(0)]);
};

const toContent = (body: unknown): Buffer | undefined => {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const createPool = (open: () => Connection, limit: number) => {
  const all = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  const drop = (connection: Connection): void => {
    connection.destroy();
    all.delete(connection);
  };
  return {
    take: async (alone: boolean): Promise<Connection> => {
      while (all.size >= limit && idle.length === 0) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      const kept = alone ? undefined : idle.pop();
      if (kept?.isOpen()) return kept;
      if (kept) drop(kept);
      const opened = open();
      all.add(opened);
      return opened;
    },
    give: (connection: Connection, isKept: boolean): void => {
      if (isKept && all.has(connection)) idle.push(connection);
      else drop(connection);
      waiting.shift()?.();
    },
    close: (): void => {
      for (const connection of [...all]) drop(connection);
    },
  };
};
