import { createServer } from 'node:http';

/** A receiver that answers every POST with 200. `node sink.js PORT`; a GET tells how many there were, and the last one. */
const [, , port] = process.argv;
const told: { count: number; headers: object; body: string } = { count: 0, headers: {}, body: '' };

createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(told));
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    told.count += 1;
    told.headers = request.headers;
    told.body = body;
    response.end();
  });
}).listen(Number(port), '127.0.0.1');
