import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';

/** Upper bound: Node's own HTTP server with one constant response. `node bare.js PORT KIND FILE-WITH-JSON` */
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

createServer(kinds[kind]).listen(Number(port), '127.0.0.1');
