import type { Database } from '../../storage/postgres/database.ts';
import type { Lease } from '../../storage/postgres/lease.ts';

/**
 * Returns the name of a place's lease. A place is a host name, or an instance's place. An instance's place begins with
 * a dot.
 */
export const toPlaceLease = (place: string): string => `watches/${place}`;

const instanceMark = '.';

/** Returns the place of an instance, derived from the id of the data directory. */
export const toInstancePlace = (id: string): string => `${instanceMark}${id.replaceAll('/', '-')}`;

export const isInstancePlace = (place: string): boolean => place.startsWith(instanceMark);

/**
 * Seconds without a watching process after which a place counts as abandoned. A machine can be down for hours and still
 * come back.
 */
const patienceSeconds = { instance: 5 * 60, machine: 24 * 60 * 60 };

/** Seconds for which the lease of an abandoned place stays taken: longer than it takes to resolve the alerts. */
const takenSeconds = 15;

/**
 * Keeps the lease of this instance. While the database is unavailable, the lease counts as held. When the lease is
 * acquired, listeners are notified as if it had been lost. They then read the alerts again, because another instance
 * may have resolved some of them in the meantime.
 */
export const keepPlace = (lease: Lease): Lease => ({
  isHeld: () => true,
  onChanged: (listener) => lease.onChanged((isHeld) => isHeld && listener(false)),
  close: () => lease.close(),
});

/**
 * Takes the lease of an abandoned place, so that the place cannot return while its alerts are resolved. Resolves to
 * false if the place is not abandoned. If the place has no lease, the waiting time begins now. A running process of
 * version 1.1.0 holds no such lease. Its place gets no lease either, so it is never taken.
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
