import type { RecordLog } from '../storage/record-log.ts';

/** What the alerts feature offers to features that work with stored alerts. */
export interface AlertSource {
  /** All stored alerts; shared by all instances where they share a database. */
  journal: RecordLog;
}
