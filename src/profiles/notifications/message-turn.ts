import { createTurns } from '../../slice.ts';
import { Slots } from '../slots.ts';

/** Resolves when the next message may be made: a hundred destinations may have messages at the same time. */
export const waitForTurn = createTurns();

/** Sends of all destinations of incidents. A receiver that takes longer to answer gives its place away, so that others wait for it no longer. */
export const messageSlots = new Slots(20, { keptMs: 250, most: Number.POSITIVE_INFINITY });
