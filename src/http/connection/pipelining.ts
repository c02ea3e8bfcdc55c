import type { ServerResponse } from 'node:http';
import type { Connection } from './connections.ts';
import { waitingBeforePause, waitingInTotalBeforePause, waitingRequests } from './limits.ts';

/**
 * Runs the requests of a connection one at a time. Node would start pipelined requests at once, so a read sent after a
 * change could return the old state (RFC 9112, 9.3.2). While more than a few wait, reading from the connection pauses;
 * if too many wait, on it or in total, it is closed. The returned function is for requests that must wait, and calls
 * `begin` when it is their turn.
 */
export const createPipelining = () => {
  let inTotal = 0;
  const known = new WeakSet<Connection>();
  const change = (connection: Connection, count: number): void => {
    inTotal += count;
    connection.waiting += count;
  };
  const isFull = ({ waiting }: Connection): boolean =>
    waiting > waitingBeforePause || (waiting > 0 && inTotal > waitingInTotalBeforePause);
  const enqueue = (connection: Connection): void => {
    const { socket } = connection;
    change(connection, 1);
    if (!known.has(connection)) {
      known.add(connection);
      socket.once('close', () => change(connection, -connection.waiting));
      // Node resumes reading after each request that arrives or ends.
      socket.on('resume', () => isFull(connection) && socket.pause());
    }
    if (connection.waiting > waitingRequests.perConnection || inTotal > waitingRequests.inTotal) {
      socket.destroy();
    } else if (isFull(connection)) socket.pause();
  };
  const dequeue = (connection: Connection): void => {
    change(connection, -1);
    if (!isFull(connection) && connection.socket.isPaused()) connection.socket.resume();
  };
  return (connection: Connection, response: ServerResponse, begin: () => void): void => {
    // The parser still delivers the other requests of its chunk.
    if (connection.socket.destroyed) return;
    enqueue(connection);
    response.once('socket', () => {
      dequeue(connection);
      begin();
    });
  };
};
