import type { Database } from './database.ts';

/** Seconds for which a lease remains valid after it was renewed. */
const leaseSeconds = 15;

/** Milliseconds between attempts to acquire or renew a lease. */
const renewMs = 5000;

/** Right of one instance to act on behalf of all instances. */
export interface Lease {
  isHeld(): boolean;
  /** Calls the listener when the lease is acquired or lost. */
  onChanged(listener: (isHeld: boolean) => void): void;
  /** Gives up the lease. */
  close(): Promise<void>;
}

/** Lease for a server without other instances. Such a server always holds it. */
export const ownLease: Lease = {
  isHeld: () => true,
  onChanged: () => undefined,
  close: async () => undefined,
};

/**
 * Creates a lease in the database that instances share. If the holder stops, another instance gets the lease within 20
 * s. `begun` resolves after the first attempt to acquire the lease. While `isWanted` returns false, the lease is left
 * to other instances.
 */
export const createLease = (
  database: Pick<Database, 'query' | 'instance' | 'waitForFarewell'>,
  name: string,
  isWanted: () => boolean = () => true,
): Lease & { begun: Promise<void> } => {
  const listeners: ((isHeld: boolean) => void)[] = [];
  /** End of the lease, on the monotonic clock. */
  let heldUntil = 0;
  let wasHeld = false;
  let isClosed = false;
  let running: Promise<void> | undefined;
  const isHeld = (): boolean => performance.now() < heldUntil;
  const callListeners = (): void => {
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
      // Without renewal, the lease is lost when it expires.
      .catch(() => undefined);
    if (rows && !isClosed) heldUntil = rows.length > 0 ? begun + leaseSeconds * 1000 : 0;
    callListeners();
  };
  const look = (): void => {
    callListeners();
    running ??= (isWanted() ? renew() : giveUp()).finally(() => {
      running = undefined;
    });
  };
  const giveUp = async (): Promise<void> => {
    if (!isHeld()) return;
    heldUntil = 0;
    callListeners();
    // The row stays. It shows since when nobody has held the lease.
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
      await database.waitForFarewell(Promise.resolve(running).then(giveUp));
    },
  };
};
