import { connect, type Socket } from 'node:net';
import { type Answer, parseAnswer } from './answer.ts';

/** Milliseconds after which a request counts as not answered; longer than a command may take. */
const patience = 25_000;

interface Sending {
  isHead: boolean;
  /** Use a connection for this request alone. */
  alone: boolean;
  /** End our side after the bytes. */
  ends: boolean;
}

export interface Client {
  /** Sends bytes and resolves to the answer; to undefined where the connection is closed without one. */
  send(bytes: Buffer, how: Sending): Promise<Answer | undefined>;
  close(): void;
}

/** Sends one request after the other, on one connection as long as that is possible. */
export const createClient = (port: number): Client => {
  let kept: Socket | undefined;
  const drop = (): void => {
    kept?.destroy();
    kept = undefined;
  };
  return {
    send: async (bytes, how) => {
      if (kept?.destroyed || kept?.readableEnded) drop();
      const socket = (how.alone ? undefined : kept) ?? (await open(port));
      if (!how.alone) kept = socket;
      try {
        const answer = await exchange(socket, bytes, how);
        if (how.alone || !answer || answer.headers.get('connection') === 'close') socket.destroy();
        else if (answer.rest.length > 0)
          throw new Error(`bytes after the answer: ${answer.rest.toString('latin1')}`);
        if (socket.destroyed && kept === socket) kept = undefined;
        return answer;
      } catch (error) {
        socket.destroy();
        drop();
        throw error;
      }
    },
    close: drop,
  };
};

const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // A connection that breaks is closed too, which is what is looked at.
      socket.on('error', () => {});
      resolve(socket);
    });
  });

const exchange = (socket: Socket, bytes: Buffer, { isHead, ends }: Sending): Promise<Answer | undefined> =>
  new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => finish(() => reject(new Error('no answer in time'))), patience);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).off('end', onEnd);
      settle();
    };
    const look = (ended: boolean): void => {
      try {
        const answer = parseAnswer(received, isHead, ended);
        if (answer || ended) finish(() => resolve(answer));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const onData = (piece: Buffer): void => {
      received = received.length === 0 ? piece : Buffer.concat([received, piece]);
      look(false);
    };
    const onEnd = (): void => {
      socket.end();
    };
    const onClose = (): void => look(true);
    socket.on('data', onData).on('close', onClose).on('end', onEnd);
    if (ends) socket.end(bytes);
    else socket.write(bytes);
  });
