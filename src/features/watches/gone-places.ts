import type { Database } from '../../storage/postgres/database.ts';
import type { Lease } from '../../storage/postgres/lease.ts';

/** Names of leases; the place of an instance begins with a dot, that of a machine is its host name. */
export const toPlaceLease = (place: string): string => `watches/${place}`;

const instanceMark = '.';

/** The place of the instance with this data directory. */
export const toInstancePlace = (id: string): string => `${instanceMark}${id.replaceAll('/', '-')}`;

export const isInstancePlace = (place: string): boolean => place.startsWith(instanceMark);

/** Seconds for which nothing watches a place until it counts as gone: a machine may be down for hours and return as it was. */
const patienceSeconds = { instance: 5 * 60, machine: 24 * 60 * 60 };

/** Longer than it takes to store the ends of alerts. */
const takenSeconds = 15;

/**
 * The lease of something that only this process does, so the process goes on while the database is away. Its gain is told as
 * a loss, after which alerts are read again: another instance may have ended them meanwhile.
 */
export const keepPlace = (lease: Lease): Lease => ({
  isHeld: () => true,
  onChanged: (listener) => lease.onChanged((isHeld) => isHeld && listener(false)),
  close: () => lease.close(),
});

/**
 * Takes the lease of a place that is gone, so that it cannot return while its alerts are ended; resolves to whether it could.
 * A place without a lease begins to be gone now, unless a process of 1.1.0, which has no such lease, is there.
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
