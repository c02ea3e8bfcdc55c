import { awaitWithin } from '../../lib/scheduling.ts';
import type { Database } from './database.ts';

/** How long a lease lasts unless it is renewed, and how often that is tried. */
const leaseSeconds = 15;
const renewMs = 5000;

/** How many milliseconds a last message to a shared database may hold up the end of the process: nothing depends on it. */
export const farewellMs = 250;

/** Whether this is the instance that does something of which there may be one. */
export interface Lease {
  isHeld(): boolean;
  /** Called when it is gained, or lost. */
  onChanged(listener: (isHeld: boolean) => void): void;
  /** Gives it up. */
  close(): Promise<void>;
}

/** Where there is one instance. */
export const ownLease: Lease = {
  isHeld: () => true,
  onChanged: () => undefined,
  close: async () => undefined,
};

/**
 * A lease in the database that instances share: if its holder ends, another one has it within 20 s. `begun` resolves after the
 * first attempt to get it.
 */
export const createLease = (
  database: Pick<Database, 'query' | 'instance'>,
  name: string,
): Lease & { begun: Promise<void> } => {
  const listeners: ((isHeld: boolean) => void)[] = [];
  /** By the monotonic clock. */
  let heldUntil = 0;
  let wasHeld = false;
  let isClosed = false;
  let running: Promise<void> | undefined;
  const isHeld = (): boolean => performance.now() < heldUntil;
  const tell = (): void => {
    if (isHeld() === wasHeld) return;
    wasHeld = !wasHeld;
    for (const listener of listeners) listener(wasHeld);
  };
  const renew = async (): Promise<void> => {
    const begun = performance.now();
    const rows = await database
      .query({
        text: `INSERT INTO signalbox.lease AS held (name, holder, until) VALUES ($1, $2, now() + $3 * interval '1 s')
          ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
          WHERE held.holder = excluded.holder OR held.until < now() RETURNING name`,
        values: [name, database.instance, leaseSeconds],
      })
      // It is lost once it is over.
      .catch(() => undefined);
    if (rows && !isClosed) heldUntil = rows.length > 0 ? begun + leaseSeconds * 1000 : 0;
    tell();
  };
  const look = (): void => {
    tell();
    running ??= renew().finally(() => {
      running = undefined;
    });
  };
  const giveUp = async (): Promise<void> => {
    await running;
    if (!isHeld()) return;
    heldUntil = 0;
    // The row stays, since it says since when nobody holds the lease.
    const text = 'UPDATE signalbox.lease SET until = now() WHERE name = $1 AND holder = $2';
    await database.query({ text, values: [name, database.instance] }).catch(() => undefined);
  };
  const timer = setInterval(look, renewMs);
  look();
  return {
    begun: Promise.resolve(running),
    isHeld,
    onChanged: (listener) => void listeners.push(listener),
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await awaitWithin(farewellMs, giveUp());
    },
  };
};
