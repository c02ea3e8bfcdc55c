import type { FastifyReply } from 'fastify';
import { sendJson } from '../../http/json-list.ts';
import type { TaskSelection } from './store.ts';

/** Answers the tasks behind `opening`, and closes the list and the object that it opens. */
export const sendSelection = (reply: FastifyReply, opening: string, { first, rest }: TaskSelection): void => {
  if (rest) sendJson(reply, opening + first, appendClosing(rest));
  else sendJson(reply, `${opening}${first}]}`);
};

function* appendClosing(rest: Iterable<string>): Generator<string> {
  yield* rest;
  yield ']}';
}
