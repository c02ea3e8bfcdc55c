import type { TextAnswer } from '../../http/direct/answer.ts';
import type { TaskSelection } from './store.ts';

/** The tasks behind `opening`, which is ASCII itself, and what closes the list and the object that it opens. */
export const toListAnswer = (opening: string, { first, isAscii, rest }: TaskSelection): TextAnswer =>
  rest ? { text: opening + first, rest: appendClosing(rest) } : { text: `${opening}${first}]}`, isAscii };

function* appendClosing(rest: Iterable<string>): Generator<string> {
  yield* rest;
  yield ']}';
}
