import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { wrapRequests } from './wrap-requests.ts';

/** Requests that may wait on a connection: each takes 3 KB. Clients that send ahead do so with some ten. */
const mostWaiting = 500;

/**
 * Lets a request that comes on a connection before the last one is answered wait for that: Node would begin it at once,
 * and a task that is read behind its change be what it was before (RFC 9112, 9.3.2). A connection on which too many wait
 * is ended. Call it after the listener is set.
 */
export const takeOneAtATime = (server: Server): void => {
  const waiting = new WeakMap<Socket, number>();
  const add = (socket: Socket, change: number): number => {
    const count = (waiting.get(socket) ?? 0) + change;
    waiting.set(socket, count);
    return count;
  };
  wrapRequests(server, (handle) => (request, response) => {
    // A response has a socket from when those before it are done.
    if (response.socket) return handle(request, response);
    const { socket } = request;
    if (add(socket, 1) > mostWaiting) socket.destroy();
    response.once('socket', () => {
      add(socket, -1);
      handle(request, response);
    });
  });
};
