import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd, type Scope } from './scope.ts';

/** Returns another body for a response. Undefined leaves the body unchanged. */
export type Change = (method: string, path: string, body: string) => string | undefined;

/** Starts an HTTP proxy on a free port on 127.0.0.1 that may change JSON bodies, and nothing else. */
export const startProxy = async (t: Scope, target: string, change: Change): Promise<string> => {
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    // Compressed bodies could not be changed.
    const { 'accept-encoding': __, ...headers } = request.headers;
    const onward = send(new URL(url, target), { method, headers }, async (answer) => {
      const { 'content-length': _, ...kept } = answer.headers;
      const isJson = kept['content-type']?.startsWith('application/json');
      response.writeHead(answer.statusCode ?? 502, isJson ? kept : answer.headers);
      if (!isJson) return answer.pipe(response);
      // A client that closes the connection aborts the response.
      const body = await readText(answer).catch(() => undefined);
      if (body === undefined) return response.destroy();
      return response.end(change(method, url, body) ?? body);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const readText = async (stream: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
