import { Slots } from '../../../kit/slots.ts';
import { createWaitForTurn } from '../../../lib/slice.ts';

/** Resolves when the next message may be written: messages to a hundred destinations must not block the event loop. */
export const waitForMessageTurn = createWaitForTurn();

/** Slots shared by all destinations for incident messages. After 250 ms, a message gives up its slot. */
export const messageSlots = new Slots(20, { keptMs: 250, max: Number.POSITIVE_INFINITY });
