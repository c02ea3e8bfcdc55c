import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBusyError, isVital } from '../admission/shedding.ts';
import { toErrorAnswer, type Write } from './answer.ts';

interface Refusal {
  write: Write;
  /** Whether the request may go to any route. */
  isWelcome: (request: IncomingMessage) => boolean;
  /** Whether the program is too far behind with its work. */
  isLagging: () => boolean;
}

/**
 * Refuses, as Fastify would, what comes while there is too much to do; false where it is not for here to refuse. Where
 * twice as much comes as can be done, half is refused: that must cost next to nothing, or the other half suffers.
 */
export const createRefusal = ({ write, isWelcome, isLagging }: Refusal) => {
  const answer = toErrorAnswer(createBusyError());
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isLagging() || !isOrdinary(request) || !isWelcome(request)) return false;
    write(response, answer);
    return true;
  };
};

/** No health route, and nothing that is answered before it could be refused: OPTIONS, a path that cannot be decoded. */
const isOrdinary = ({ method, url = '' }: IncomingMessage): boolean => {
  const [path = ''] = url.split('?', 1);
  return method !== 'OPTIONS' && !path.includes('%') && !isVital(path);
};
