import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';

/**
 * What Node's own server can do at best: one constant answer, whatever is asked.
 * `node bare.js PORT FILE KIND`; the file holds the answer's JSON.
 */
const [, , port, file = '', kind = 'text'] = process.argv;
const bytes = readFileSync(file);
const text = bytes.toString();
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length };

const kinds: Record<string, RequestListener> = {
  /** Small answers: Node sends a text in one piece with its head. */
  text: (_request, response) => response.writeHead(200, headers).end(text),
  /** Large ones: nothing is encoded. */
  buffer: (_request, response) => response.writeHead(200, headers).end(bytes),
  /** Reads the body and parses it, as whoever creates something has to. */
  parse: (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      // Whoever asks whether it is up sends none.
      JSON.parse(body || 'null');
      response.writeHead(201, headers).end(text);
    });
  },
};

createServer(kinds[kind]).listen(Number(port), '127.0.0.1');
