import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection for short responses of known length, one at a time: cheaper than Node's own client. */
export interface Connection {
  /** Resolves to the status of the response, or to 0 if the connection ends before the response is complete. */
  ask(request: Buffer): Promise<number>;
}

const answerHead = /^HTTP\/1\.1 (\d{3}) .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n/is;

/** Opens a connection, and reopens it whenever it has been closed. */
export const openConnection = async ({ hostname, port }: URL): Promise<Connection> => {
  const open = () =>
    connect(Number(port), hostname)
      .setEncoding('latin1')
      .on('error', () => undefined);
  let socket = open();
  await once(socket, 'connect');
  return {
    ask: (request) => {
      if (socket.closed || !socket.writable) socket = open();
      const answer = readStatus(socket);
      socket.write(request);
      return answer;
    },
  };
};

const readStatus = (socket: Socket): Promise<number> =>
  new Promise((resolve) => {
    let text = '';
    const finish = (status: number): void => {
      socket.off('data', read).off('close', close);
      resolve(status);
    };
    const read = (piece: string): void => {
      text += piece;
      const [head = '', status, length] = answerHead.exec(text) ?? [];
      if (status !== undefined && text.length >= head.length + Number(length)) finish(Number(status));
    };
    const close = (): void => finish(0);
    socket.on('data', read).on('close', close);
  });
