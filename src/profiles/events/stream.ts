import type { ServerResponse } from 'node:http';
import type { SendEvent } from '../topic.ts';

/** Bytes of events that may wait for a reader; one that lets more pile up is disconnected. */
const maxBacklog = 1024 * 1024;

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies such as nginx would collect the events.
  'x-accel-buffering': 'no',
};

export type EventStream = ReturnType<typeof openStream>;

/** A response that goes on as server-sent events. `onClose` is called once, when it has ended for any reason. */
export const openStream = (response: ServerResponse, onClose: () => void) => {
  response.writeHead(200, eventHeaders);
  /** Events of this turn of the event loop, which become one write. */
  let ready = '';
  // Events wait as one text: each write that Node keeps costs some hundred bytes more.
  let waiting = '';
  let waitingBytes = 0;
  /** Pending while the reader has not taken what was written. */
  let room: Promise<void> | undefined;
  let makeRoom = (): void => undefined;
  const isOver = () => response.writableEnded || response.destroyed;
  const write = (text: string): void => {
    if (response.write(text)) return;
    room = new Promise((resolve) => {
      makeRoom = resolve;
    });
  };
  const writeWaiting = (): void => {
    const text = waiting;
    waiting = '';
    waitingBytes = 0;
    room = undefined;
    makeRoom();
    if (text !== '' && !isOver()) write(text);
  };
  const writeReady = (): void => {
    const text = ready;
    ready = '';
    if (text === '' || isOver()) return;
    if (!room) {
      write(text);
      return;
    }
    waiting += text;
    waitingBytes += Buffer.byteLength(text);
    if (waitingBytes > maxBacklog) response.destroy();
  };
  const add = (text: string): void => {
    if (ready === '') queueMicrotask(writeReady);
    ready += text;
  };
  /** Events that a slow reader has not taken are dropped: it goes on from the last one that it has. */
  const end = (): void => {
    const isBehind = room !== undefined;
    writeReady();
    if (isBehind) response.destroy();
    else response.end();
  };
  const { socket } = response;
  // A client that goes away closes its side first; only the second write after that would fail.
  if (socket?.readableEnded) end();
  else socket?.once('end', end);
  response.on('drain', writeWaiting);
  response.once('close', () => {
    socket?.off('end', end);
    makeRoom();
    onClose();
  });
  const send = (name: string, data: string, id?: number | string): Promise<void> | undefined => {
    add(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`);
    return room;
  };
  return {
    send,
    senderOf:
      (name: string): SendEvent =>
      (data, id) =>
        send(name, data, id),
    /** Keeps proxies from closing a silent connection, and shows the client that the server is there. */
    comment: () => add(':\n\n'),
    end,
  };
};
