import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which short answers of known length are awaited, one at a time: cheaper than Node's own client. */
export interface Connection {
  /** Resolves to the status of the answer, or to 0 where the connection ends before it is whole. */
  ask(request: Buffer): Promise<number>;
}

const answerHead = /^HTTP\/1\.1 (\d{3}) .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n/is;

/** Opens a connection, and opens it anew where it has been closed. */
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
