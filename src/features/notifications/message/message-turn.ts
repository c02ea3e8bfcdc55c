import { Slots } from '../../../kit/slots.ts';
import { createTurns } from '../../../lib/slice.ts';

/** Resolves when the next message may be written, so that messages of a hundred destinations do not block the event loop. */
export const waitForMessageTurn = createTurns();

/** Slots for messages about incidents, of all destinations. After 250 ms, a message no longer keeps its slot from others. */
export const messageSlots = new Slots(20, { keptMs: 250, max: Number.POSITIVE_INFINITY });
