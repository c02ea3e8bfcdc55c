import { connect } from 'node:net';

/** Pause after each piece read, at most 64 KiB: three megabytes a second. */
const pauseMs = 20;

export interface SlowReader {
  /** Stops reading; throws if there was no response or it was already complete, since then the reader was not slow. */
  stop(): void;
}

/** Sends a request and reads the response like a slow client. */
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
      if (!wasReading) throw new Error(`the slow reader received ${head || 'nothing'}`);
    },
  };
};
