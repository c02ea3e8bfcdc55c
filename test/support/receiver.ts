import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd, type Scope } from './scope.ts';

/** Request received by a receiver. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Time at which the request was complete, in milliseconds of the monotonic clock. */
  at: number;
}

/** Responds to a request, or leaves it open. `index` counts the requests from 0. */
export type Behaviour = (response: ServerResponse, request: Received, index: number) => void;

export interface Receiver {
  url: string;
  /** Requests in order of arrival. */
  requests: Received[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Creates a behaviour that responds with the status. */
export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end();

/**
 * Starts a web server on a free or given port on 127.0.0.1 that records requests. The server is stopped when the test
 * ends.
 */
export const startReceiver = async (t: Scope, behaviour: Behaviour = answer(200), port = 0): Promise<Receiver> => {
  let behave = behaviour;
  const requests: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = '', url = '', headers } = request;
    const received = { method, path: url, headers, body, at: performance.now() };
    behave(response, received, requests.push(received) - 1);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  atEnd(t, close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    behave: (next) => {
      behave = next;
    },
    close,
  };
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
