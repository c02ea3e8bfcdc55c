import type { IncomingMessage, Server, ServerResponse } from 'node:http';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Puts a listener in front of the one that a server has for its requests, and hands that one to it. */
export const wrapRequests = (
  server: Server,
  createListener: (handle: RequestListener) => RequestListener,
): void => {
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  server.on('request', createListener(handle));
};
