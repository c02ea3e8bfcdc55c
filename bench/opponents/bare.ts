import { randomUUID } from 'node:crypto';
import { fdatasync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';

/**
 * Upper bound: Node's own HTTP server with one constant response, or with only the work that no server can avoid. `node
 * bare.js PORT KIND FILE-WITH-JSON`
 */
const [, , port, kind = 'text', file] = process.argv;
const bytes = file === undefined ? Buffer.alloc(0) : readFileSync(file);
const text = bytes.toString();
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length };

let received: { count: number; headers: object; body: string } = { count: 0, headers: {}, body: '' };

const kinds: Record<string, RequestListener> = {
  /** Handler for small responses. Node sends a string together with the headers. */
  text: (_request, response) => response.writeHead(200, headers).end(text),
  /** Handler for large responses. A buffer needs no encoding. */
  buffer: (_request, response) => response.writeHead(200, headers).end(bytes),
  /**
   * Handler that reads and parses the body, as every server that creates resources must. Readiness checks send no body.
   */
  parse: (request, response) =>
    readBody(request, (body) => {
      JSON.parse(body || 'null');
      response.writeHead(201, headers).end(text);
    }),
  /** Handler that stores each body as a line with an id and a time, and responds once the line is on disk. */
  store: (request, response) =>
    readBody(request, (body) => {
      const id = randomUUID();
      const line = JSON.stringify({ ...JSON.parse(body || 'null'), time: new Date().toISOString(), id });
      const answer = `{"received":true,"id":"${id}"}`;
      const type = headers['content-type'];
      store(line, () => response.writeHead(200, { 'content-type': type, 'content-length': answer.length }).end(answer));
    }),
  /** Handler for received deliveries. A GET returns the number of POST requests and the last request. */
  sink: (request, response) =>
    readBody(request, (body) => {
      if (request.method === 'GET') response.end(JSON.stringify(received));
      else {
        received = { count: received.count + 1, headers: request.headers, body };
        response.end();
      }
    }),
};

const readBody = (request: IncomingMessage, use: (body: string) => void): void => {
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => use(body));
};

let waiting: { line: string; respond(): void }[] = [];
let isStoring = false;
const stored = kind === 'store' ? openSync('stored.jsonl', 'a') : 0;

/** Writes a line. Lines that arrive during a sync share the next write and sync. */
const store = (line: string, respond: () => void): void => {
  waiting.push({ line, respond });
  if (isStoring) return;
  isStoring = true;
  setImmediate(storeWaiting);
};

const storeWaiting = (): void => {
  const batch = waiting;
  waiting = [];
  writeSync(stored, batch.map(({ line }) => `${line}\n`).join(''));
  fdatasync(stored, (error) => {
    if (error) throw error;
    for (const { respond } of batch) respond();
    isStoring = waiting.length > 0;
    if (isStoring) setImmediate(storeWaiting);
  });
};

createServer(kinds[kind]).listen(Number(port), '127.0.0.1');
