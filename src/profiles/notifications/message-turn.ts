import { Slice } from '../../slice.ts';
import { createSerial } from '../../storage/scheduling.ts';

const inTurn = createSerial();
const slice = new Slice();

/**
 * Resolves when the next message may be made. A hundred destinations may have messages at the same time, and what they wait for
 * may come for all at once: requests are answered in between.
 */
export const waitForTurn = (): Promise<void> =>
  inTurn(async () => {
    if (slice.isOver) await slice.giveWay();
  });
