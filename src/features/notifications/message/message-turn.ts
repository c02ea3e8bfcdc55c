import { Slots } from '../../../kit/slots.ts';
import { createWaitForTurn } from '../../../lib/slice.ts';

/**
 * Resolves when the next message may be written. Writing messages to a hundred destinations must not block the event
 * loop.
 */
export const waitForMessageTurn = createWaitForTurn();

/** Slots for incident messages. All destinations share them. A message gives up its slot after 250 ms. */
export const messageSlots = new Slots(20, { keptMs: 250, max: Number.POSITIVE_INFINITY });
