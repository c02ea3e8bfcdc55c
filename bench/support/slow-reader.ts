import { connect } from 'node:net';

/** After each piece that was read, at most 64 KiB: three megabytes in a second. */
const pauseMs = 20;

export interface SlowReader {
  /** Reads no more; throws where the answer was none, or came to its end: then it was no slow reader. */
  stop(): void;
}

/** Asks for something and reads the answer as a slow client does. */
export const startSlowReader = (url: string): SlowReader => {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  let head = '';
  let hasEnded = false;
  socket.on('data', (piece) => {
    if (head === '') head = piece.subarray(0, 100).toString('latin1');
    socket.pause();
    setTimeout(() => socket.resume(), pauseMs);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    hasEnded = true;
  });
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  return {
    stop: () => {
      const wasReading = !hasEnded && head.startsWith('HTTP/1.1 200');
      socket.destroy();
      if (!wasReading) throw new Error(`the slow reader was answered ${head || 'nothing'}`);
    },
  };
};
