import type { TextAnswer } from '../../http/direct/answer.ts';
import type { TaskSelection } from './store.ts';

/** The tasks behind `opening`, and what closes the list and the object that it opens. */
export const toListAnswer = (opening: string, { first, rest }: TaskSelection): TextAnswer =>
  rest ? { text: opening + first, rest: appendClosing(rest) } : { text: `${opening}${first}]}` };

function* appendClosing(rest: Iterable<string>): Generator<string> {
  yield* rest;
  yield ']}';
}
