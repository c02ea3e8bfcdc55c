import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Headers } from '../always-headers.ts';
import { createBusyError, isVital } from '../shedding.ts';
import { writeAnswer } from './answer.ts';

interface Refusal {
  /** Headers of every answer. */
  headers: Headers;
  /** Whether the request may go to any route. */
  isWelcome: (request: IncomingMessage) => boolean;
  /** Whether the program is too far behind with its work. */
  isLagging: () => boolean;
}

/**
 * Refuses, as Fastify would, what comes while there is too much to do; false where it is not for here to refuse. It costs
 * a third of what it costs through Fastify: of twice what can be done, half is refused, and that must not keep the
 * program from the other half.
 */
export const createRefusal = ({ headers, isWelcome, isLagging }: Refusal) => {
  const { status, body, headers: own } = createBusyError();
  const answer = { status, text: JSON.stringify(body) };
  const pairs = { ...headers, ...own, 'Content-Type': 'application/json; charset=utf-8' };
  const lines = Object.entries(pairs).flatMap(([name, value]) => [name.toLowerCase(), value]);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isLagging() || !isOrdinary(request) || !isWelcome(request)) return false;
    writeAnswer(response, lines, answer);
    return true;
  };
};

/** No health route, and nothing that is answered before it could be refused: OPTIONS, a path that cannot be decoded. */
const isOrdinary = ({ method, url = '' }: IncomingMessage): boolean => {
  const [path = ''] = url.split('?', 1);
  return method !== 'OPTIONS' && !path.includes('%') && !isVital(path);
};
