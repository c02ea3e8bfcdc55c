import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Headers } from '../response/common-headers.ts';
import { endWithAnswer, toRawAnswer } from './raw-response.ts';
import { wrapRequests } from './wrap-requests.ts';

/** Takes what Node would answer without a body, or not see: CONNECT, expectations that cannot be met, a long tail of headers. */
export const answerOddRequests = (server: Server, headers: Headers): void => {
  const refusal = toRawAnswer(405, 'Method not allowed', {
    ...headers,
    Allow: 'GET, HEAD, POST, PUT, DELETE',
  });
  server.on('connect', (_request, socket) => {
    // Node has let go of the socket: a failure that nobody listens to would end the program.
    socket.on('error', () => socket.destroy());
    socket.resume();
    endWithAnswer(socket as Socket, refusal);
  });
  // Node would leave out all headers past the 2,000th; their size is bounded, and none is to be lost.
  server.maxHeadersCount = 0;
  routeAsGet(server);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
};

/**
 * `PRI`, with which HTTP/2 begins, reaches the program in a line without a version. Fastify would answer it outside of
 * all hooks, and log its routes each time; as a GET it comes to where its version is refused.
 */
const routeAsGet = (server: Server): void =>
  wrapRequests(server, (handle) => (request, response) => {
    if (request.method === 'PRI') request.method = 'GET';
    handle(request, response);
  });
