import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';

/**
 * The upper bound: Node's own HTTP server with one constant response. `node bare.js PORT FILE KIND`; the file holds the
 * response's JSON.
 */
const [, , port, file = '', kind = 'text'] = process.argv;
const bytes = readFileSync(file);
const text = bytes.toString();
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length };

const kinds: Record<string, RequestListener> = {
  /** For small responses: Node sends a string together with the headers. */
  text: (_request, response) => response.writeHead(200, headers).end(text),
  /** For large responses: a buffer needs no encoding. */
  buffer: (_request, response) => response.writeHead(200, headers).end(bytes),
  /** Reads and parses the body, as every server that creates something must. */
  parse: (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      // Readiness checks send no body.
      JSON.parse(body || 'null');
      response.writeHead(201, headers).end(text);
    });
  },
};

createServer(kinds[kind]).listen(Number(port), '127.0.0.1');
