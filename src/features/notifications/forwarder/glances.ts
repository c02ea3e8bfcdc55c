import { toSeverity } from '../../../kit/severity.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { DestinationState } from '../schema.ts';
import { bySeq } from './progress.ts';
import { readAlertsFrom } from './records.ts';

/** Maximum length in characters of a message in a list. */
const mostCharacters = 500;

/** Fields of a listed alert that must be read from the log. */
type Glance = Pick<DestinationState['parkedAlerts'][number], 'severity' | 'source' | 'message'>;

export const unknownGlance: Glance = { severity: null, source: null, message: null };

/**
 * Creates a function that reads the fields of listed alerts. Clients poll lists, so each alert is read once and cached
 * while it is listed. While the log is unreadable, fields of newly listed alerts are missing.
 */
export const createGlances = (alerts: Pick<RecordLog, 'readAfter'>) => {
  let last = new Map<string, Glance>();
  return async (listed: readonly { seq: number; id: string }[]): Promise<ReadonlyMap<string, Glance>> => {
    const glances = new Map(listed.flatMap(({ id }) => (last.has(id) ? [[id, last.get(id) ?? unknownGlance]] : [])));
    last = glances;
    const missing = new Map(listed.flatMap(({ seq, id }) => (glances.has(id) ? [] : [[seq, id]])));
    await readGlances(alerts, missing, glances).catch(() => undefined);
    return glances;
  };
};

const readGlances = async (
  alerts: Pick<RecordLog, 'readAfter'>,
  missing: ReadonlyMap<number, string>,
  glances: Map<string, Glance>,
): Promise<void> => {
  let last = 0;
  for (const seq of [...missing.keys()].sort(bySeq)) {
    if (seq <= last) continue;
    const records = await readAlertsFrom(alerts, seq);
    // In a replaced log, another alert may have the same seq.
    for (const record of records) if (missing.get(record.seq) === record.id) glances.set(record.id, toGlance(record));
    last = records.at(-1)?.seq ?? seq;
  }
  for (const id of missing.values()) if (!glances.has(id)) glances.set(id, unknownGlance);
};

const toGlance = ({ level, source, message }: StoredRecord): Glance => ({
  severity: toSeverity(String(level)),
  source: String(source),
  message: String(message).slice(0, mostCharacters),
});
