import type { IncomingMessage, Server, ServerResponse } from 'node:http';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Lets a request that comes on a connection before the last one is answered wait for that: Node would begin it at once,
 * and a task that is read behind its change be what it was before (RFC 9112, 9.3.2). Call it after the listener is set.
 */
export const takeOneAtATime = (server: Server): void => {
  const [handle] = server.listeners('request') as [Listener];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    // A response has a socket from when those before it are done.
    if (response.socket) handle(request, response);
    else response.once('socket', () => handle(request, response));
  });
};
