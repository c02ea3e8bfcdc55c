import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SendEvent } from '../topic.ts';

/** Bytes that may wait for a reader; one that lets more pile up is disconnected. */
const maxBacklog = 1024 * 1024;

/** Bytes that wait before senders that can wait do so. */
const roomyBacklog = 64 * 1024;

export type EventStream = ReturnType<typeof openStream>;

/** A response that goes on as server-sent events. `onClose` is called once, when it has ended for any reason. */
export const openStream = (response: ServerResponse, onClose: () => void) => {
  response.once('close', onClose);
  // The server allows half-closed connections, so a client that has left would only be noticed when writing fails.
  response.socket?.once('end', () => response.end());
  const closed = once(response, 'close');
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies such as nginx would collect the events.
    'x-accel-buffering': 'no',
  });
  const write = (text: string): void => {
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength + text.length > maxBacklog) response.destroy();
    else response.write(text);
  };
  const send = async (name: string, data: string, id?: number): Promise<void> => {
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`);
    while (response.writableLength > roomyBacklog && !response.destroyed) {
      await Promise.race([once(response, 'drain'), closed]);
    }
  };
  return {
    send,
    senderOf:
      (name: string): SendEvent =>
      (data, id) =>
        send(name, data, id),
    /** Keeps proxies from closing a silent connection, and shows the client that the server is there. */
    comment: () => write(':\n\n'),
    end: () => void response.end(),
  };
};
