import type { StoredRecord } from '../../storage/journal/line.ts';
import type { TransferredState } from './transferred-state.ts';

export interface Ping {
  type: 'success' | 'start' | 'failure' | 'log';
  exitCode?: number;
  /** Run id. */
  rid?: string;
  output?: string;
}

interface OfHeartbeat {
  name: string;
  /** Creation time of the heartbeat. Distinguishes successive heartbeats with the same name. */
  since: number;
  at: number;
}

/** Record in the heartbeats log. Times are Unix milliseconds. */
export type HeartbeatRecord =
  | (Ping & OfHeartbeat)
  /**
   * The heartbeat is late, or a run takes too long. The record is void unless it directly follows the record in
   * `after`.
   */
  | ({ type: 'overdue'; why: 'late' | 'long'; after: number; dueAt: number } & OfHeartbeat)
  /**
   * The alert of the heartbeat was raised or, if null, resolved. `isForgotten`: the heartbeat was deleted. Version 1.1
   * reads this as a resolved alert.
   */
  | ({ type: 'told'; alert: string | null; level: string; problem: number; isForgotten?: true } & OfHeartbeat)
  | ({ type: 'pause' | 'resume'; by: string } & OfHeartbeat)
  /** The first ping is expected. Its due time is counted from the time of this event. */
  | ({ type: 'expected' } & OfHeartbeat)
  /** An import stored the state. No ping could be received before the import. */
  | ({ type: 'moved'; state: TransferredState } & OfHeartbeat)
  /** No ping could be received between the two times. */
  | { type: 'outage'; from: number; at: number }
  /** The clock was set back to this time. */
  | { type: 'clock'; at: number };

const knownTypes: readonly unknown[] = [
  'success',
  'start',
  'failure',
  'log',
  'overdue',
  'told',
  'pause',
  'resume',
  'expected',
  'moved',
  'outage',
  'clock',
] satisfies HeartbeatRecord['type'][];

/** Returns the record in a line. Undefined for a type unknown to this version. */
export const parseHeartbeatRecord = (record: StoredRecord): HeartbeatRecord | undefined =>
  knownTypes.includes(record['type']) && Number.isFinite(record['at'])
    ? (record as unknown as HeartbeatRecord)
    : undefined;
