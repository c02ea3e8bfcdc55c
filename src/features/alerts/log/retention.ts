import type { Database } from '../../../storage/postgres/database.ts';
import type { Storage } from '../../../storage/storage.ts';
import { defaultRetainDays } from './settings.ts';

/** Default for a log of version 1.0. Such a log had no limit. */
const unlimitedDays = 0;

/** Line for the start message if `alertsRetainDays` is not set and the log has no limit. */
export const unlimitedNotice = `alertsRetainDays is not set: this log keeps alerts forever, as in version 1.0; new logs keep alerts for ${defaultRetainDays} days`;

/**
 * Reads the default of `alertsRetainDays` for the log in files. If the log already has alerts on first startup, it gets
 * no limit, so that an upgrade deletes no alerts. A small file stores the decision.
 */
export const readFileRetention = async (storage: Storage): Promise<number> => {
  const file = storage.file('alerts.retain-days');
  const known = String((await file.read()) ?? '').trim();
  if (known !== '') return known === String(unlimitedDays) ? unlimitedDays : defaultRetainDays;
  const journal = await storage.log('alerts', { title: 'alert log', awaitsHold: true });
  const days = journal.state().lastSeq === 0 ? defaultRetainDays : unlimitedDays;
  await journal.close();
  // If the file cannot be written, the next start decides again and never keeps fewer alerts.
  await file.write(Buffer.from(`${days}\n`)).catch(() => undefined);
  return days;
};

/**
 * Reads the default of `alertsRetainDays` for the log in the database. The first instance decides for all instances.
 */
export const readDatabaseRetention = async (database: Pick<Database, 'query'>): Promise<number> => {
  const name = 'alert_days';
  await database.query({
    text: `INSERT INTO signalbox.gate (name, last_id)
      SELECT $1, CASE WHEN last_id = (SELECT count(*) FROM signalbox.alert_event) THEN $2::bigint ELSE $3::bigint END
      FROM signalbox.gate WHERE name = 'alert'
      ON CONFLICT (name) DO NOTHING`,
    values: [name, defaultRetainDays, unlimitedDays],
  });
  const text = 'SELECT last_id AS days FROM signalbox.gate WHERE name = $1';
  const [row] = await database.query({ text, values: [name] });
  return row.days;
};
