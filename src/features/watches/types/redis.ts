import type { Socket } from 'node:net';
import { ServerError } from './conversation.ts';
import { defineLoginWatch, type ServerLogin } from './login.ts';

/** Maximum length of a line in the response, in characters. */
const maxLineLength = 10_000;

/**
 * Checks that a Redis server, or another server that speaks its protocol, accepts a login and answers PING. Uses no
 * client library, because a library would reconnect and queue, and a check must do neither. Commands and responses are
 * single lines of RESP.
 */
export const redisWatch = defineLoginWatch({
  name: 'redis',
  defaultPort: 6379,
  keys: ['user'],
  beginsWithTls: true,
  ask: async (socket, { user, password }: ServerLogin) => {
    const lines = readLines(socket);
    const send = async (...words: string[]): Promise<void> => {
      socket.write(toCommand(words));
      const { value: line } = await lines.next();
      if (line === undefined) throw new Error('the connection was closed');
      if (line.startsWith('-')) throw new ServerError(withoutWords(line.slice(1)));
      if (!line.startsWith('+')) throw new Error('the response does not come from Redis');
    };
    if (password !== undefined) await send('AUTH', ...(user === undefined ? [] : [user]), password);
    await send('PING');
  },
});

const toCommand = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

/**
 * Returns an error message without the words of the command, because a word may be the password. Servers without AUTH
 * repeat these words.
 */
const withoutWords = (message: string): string => message.replace(/,? with args beginning with:.*$/is, '');

async function* readLines(socket: Socket): AsyncGenerator<string, undefined> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1') as AsyncIterable<string>) {
    text += chunk;
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
    if (text.length > maxLineLength) throw new Error('the response does not come from Redis');
  }
}
