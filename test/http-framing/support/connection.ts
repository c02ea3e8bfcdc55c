import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { parseAnswers, type RawAnswer } from './answers.ts';

/** Milliseconds after which a server that says nothing counts as hung. */
const patience = 10_000;

export interface Connection {
  /** Sends bytes as they are; characters are bytes. */
  send(text: string): void;
  /** Ends the client's side. */
  end(): void;
  /** The first `count` answers of the connection, waited for. */
  answers(count: number): Promise<RawAnswer[]>;
  /** Waits until the server has closed the connection; resolves to all answers, and what is none. */
  closed(): Promise<{ answers: RawAnswer[]; rest: string }>;
}

/** A connection on which nothing tidies up what is sent. */
export const openConnection = (url: string): Connection => {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).setEncoding('latin1');
  let text = '';
  let isClosed = false;
  let wake = (): void => undefined;
  const notice = (): void => wake();
  socket.on('data', (data) => {
    text += data;
    notice();
  });
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      isClosed = true;
      socket.destroy();
      notice();
    });
  }
  const waitFor = (condition: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new assert.AssertionError({ message: `${what}; got ${JSON.stringify(text)}` }));
      }, patience);
      wake = () => {
        if (!condition()) return;
        clearTimeout(timer);
        resolve();
      };
      wake();
    });
  return {
    send: (data) => void socket.write(data, 'latin1'),
    end: () => void socket.end(),
    answers: async (count) => {
      await waitFor(() => isClosed || parseAnswers(text).answers.length >= count, `no ${count} answers`);
      return parseAnswers(text).answers.slice(0, count);
    },
    closed: async () => {
      await waitFor(() => isClosed, 'the connection stays open');
      return parseAnswers(text);
    },
  };
};
