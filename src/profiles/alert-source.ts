import type { StoredRecord } from '../storage/journal/read/lines.ts';
import type { Awaitable } from '../storage/list.ts';
import type { RecordLog } from '../storage/record-log.ts';

/** The incidents of alerts, in their order; undefined for those that are in none, or not yet. */
export type NameIncidents = (
  alerts: readonly StoredRecord[],
) => Awaitable<readonly ({ id: string; number: number } | undefined)[]>;

/** What the alerts feature offers to features that work with stored alerts. */
export interface AlertSource {
  /** All stored alerts; shared by all instances where they share a database. */
  journal: RecordLog;
  /** To be called once, by the feature that knows the incidents of alerts. */
  setIncidentNames(name: NameIncidents): void;
}
