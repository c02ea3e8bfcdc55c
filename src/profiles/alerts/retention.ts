import type { Database } from '../../storage/postgres/database.ts';
import type { Parts } from '../feature.ts';

/** Days for which a new log keeps alerts, if `alertsRetainDays` is not set. */
export const defaultRetainDays = 400;

/** Kept for ever: the default of a log that was begun before there was a limit. */
const forever = 0;

/** What a start says where alerts are kept for ever because they were before. */
export const keptNotice = `alertsRetainDays is not set: alerts are kept for ever, as they were before; new logs keep them for ${defaultRetainDays} days`;

/**
 * The default for the log in files. It is decided once, when this version first opens the log, by whether there are alerts
 * in it, and then kept in a small file beside it: nothing that was kept for ever is deleted by an upgrade.
 */
export const readDefaultDays = async ({ openLog, openSnapshot }: Pick<Parts, 'openLog' | 'openSnapshot'>) => {
  const file = openSnapshot('alerts.retain-days');
  const known = String((await file.read()) ?? '').trim();
  if (known !== '') return known === String(forever) ? forever : defaultRetainDays;
  const journal = await openLog('alert log', { name: 'alerts', awaitsHold: true });
  const days = journal.state().lastSeq === 0 ? defaultRetainDays : forever;
  await journal.close();
  // Where it cannot be written, the next start decides; it never deletes more for that.
  await file.write(Buffer.from(`${days}\n`)).catch(() => undefined);
  return days;
};

/** The same for the log in a database, for all instances: it is kept as a row beside the gate of the alerts. */
export const readSharedDefaultDays = async (database: Pick<Database, 'query'>): Promise<number> => {
  const name = 'alert_days';
  await database.query({
    text: `INSERT INTO signalbox.gate (name, last_id)
      SELECT $1, CASE WHEN last_id = 0 THEN $2::bigint ELSE $3::bigint END FROM signalbox.gate WHERE name = 'alert'
      ON CONFLICT (name) DO NOTHING`,
    values: [name, defaultRetainDays, forever],
  });
  const text = 'SELECT last_id AS days FROM signalbox.gate WHERE name = $1';
  const [row] = await database.query({ text, values: [name] });
  return row.days;
};
