import type { Database } from '../../storage/postgres/database.ts';
import type { Lease } from '../../storage/postgres/lease.ts';

/** Returns the name of the lease of a place: the host name of a machine, or the place of an instance, which begins with a dot. */
export const toPlaceLease = (place: string): string => `watches/${place}`;

const instanceMark = '.';

/** Returns the place of an instance, by the id of its data directory. */
export const toInstancePlace = (id: string): string => `${instanceMark}${id.replaceAll('/', '-')}`;

export const isInstancePlace = (place: string): boolean => place.startsWith(instanceMark);

/** Seconds without a watching process after which a place is gone: a machine may be down for hours and return. */
const patienceSeconds = { instance: 5 * 60, machine: 24 * 60 * 60 };

/** Seconds for which a gone place stays taken, more than the resolutions of its alerts need. */
const takenSeconds = 15;

/**
 * Keeps the lease of the own instance, which counts as held while the database is away. Listeners get a gain as a loss, so that
 * they read the alerts again: another instance may have resolved them meanwhile.
 */
export const keepPlace = (lease: Lease): Lease => ({
  isHeld: () => true,
  onChanged: (listener) => lease.onChanged((isHeld) => isHeld && listener(false)),
  close: () => lease.close(),
});

/**
 * Takes the lease of a gone place, so that the place cannot return while its alerts are resolved; resolves to false for a place
 * that is not gone. The time of a place without a lease begins now, unless a process of version 1.1.0 is there, which has no such
 * lease.
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
