import type { Database } from '../../storage/postgres/database.ts';
import type { Lease } from '../../storage/postgres/lease.ts';

/** Returns the name of a place's lease. A place is a host name, or an instance's place, which begins with a dot. */
export const toPlaceLease = (place: string): string => `watches/${place}`;

const instanceMark = '.';

/** Returns an instance's place, which is derived from the id of its data directory. */
export const toInstancePlace = (id: string): string => `${instanceMark}${id.replaceAll('/', '-')}`;

export const isInstancePlace = (place: string): boolean => place.startsWith(instanceMark);

/**
 * Seconds without a watching process after which a place counts as gone. A machine may be down for hours before it
 * comes back.
 */
const patienceSeconds = { instance: 5 * 60, machine: 24 * 60 * 60 };

/** Seconds for which a place that is gone stays taken, which is longer than resolving its alerts takes. */
const takenSeconds = 15;

/**
 * Keeps this instance's lease, which counts as held while the database is unavailable. When the lease is gained,
 * listeners are notified as if it had been lost, so that they read the alerts again: another instance may have resolved
 * some in the meantime.
 */
export const keepPlace = (lease: Lease): Lease => ({
  isHeld: () => true,
  onChanged: (listener) => lease.onChanged((isHeld) => isHeld && listener(false)),
  close: () => lease.close(),
});

/**
 * Takes the lease of a place that is gone, which keeps the place from returning while its alerts are resolved. Resolves
 * to false if the place is not gone. For a place without a lease, the wait begins now, unless a version 1.1.0 process,
 * which takes no such lease, runs there.
 */
export const takeGonePlace = async (
  database: Pick<Database, 'query' | 'instance'>,
  place: string,
): Promise<boolean> => {
  const patience = isInstancePlace(place) ? patienceSeconds.instance : patienceSeconds.machine;
  const rows = await database.query({
    text: `INSERT INTO signalbox.lease AS held (name, holder, until)
      SELECT $1, $2, now() WHERE NOT EXISTS (SELECT FROM signalbox.writer
        WHERE $3 = '.' || instance::text AND seen_at > now() - interval '1 minute')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = now() + $5 * interval '1 s'
        WHERE held.until < now() - $4 * interval '1 s'
      RETURNING until > now() AS "isTaken"`,
    values: [toPlaceLease(place), database.instance, place, patience, takenSeconds],
  });
  return rows.some(({ isTaken }) => isTaken);
};
