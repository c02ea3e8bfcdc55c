import { Slots } from '../../../kit/slots.ts';
import { createTurns } from '../../../lib/slice.ts';

/** Resolves when the next message may be made: a hundred destinations may have messages at the same time. */
export const waitForMessageTurn = createTurns();

/** Sends of all destinations of incidents. One that takes longer than a quarter of a second gives its place to another. */
export const messageSlots = new Slots(20, { keptMs: 250, most: Number.POSITIVE_INFINITY });
