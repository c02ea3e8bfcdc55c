import { createTurns } from '../../slice.ts';

/** Resolves when the next message may be made: a hundred destinations may have messages at the same time. */
export const waitForTurn = createTurns();
