import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { compare, type Line, readLog, type Verdict } from './compare.ts';

/** Request that changes stored records. */
export interface Operation {
  kind: 'create' | 'update' | 'remove';
  /** Message of the alert or title of the task. Never sent twice. */
  message: string;
  /** Undefined without a response. */
  id: string | undefined;
  /** Start of the task's description after the request. */
  text?: string;
  /** False if the request may or may not have taken effect. */
  isAcknowledged: boolean;
}

/** Request that changes an existing record. */
export interface Step extends Pick<Operation, 'kind' | 'text'> {
  method: string;
  path: string;
  body?: object;
}

/** Kind of stored records: their requests, and the check of the records after a fault. */
export interface Kept {
  what: 'alert' | 'task';
  /** Flags of the server. */
  flags: string[];
  /** Additional flags that split the log into many files. */
  smallSegments: string[];
  /** Name of the log. */
  log: string;
  /** Path of a list. */
  list: string;
  create(message: string): { path: string; body: object };
  /** Requests that follow the creation of a record. */
  change(id: string, message: string): Step[];
  /** Compares the requests with the data directory. Each inner list contains the requests of one client in order. */
  judge(dataDir: string, sent: readonly Operation[][]): Promise<Verdict>;
  /** Patterns that find acknowledged records and written lines in a trace. */
  inAnswer: RegExp;
  inLog: RegExp;
}

/** Alerts, each stored as one line of the log. */
export const alerts: Kept = {
  what: 'alert',
  flags: ['--profiles', 'alerts'],
  smallSegments: ['--alerts-segment-bytes', '4096'],
  log: 'alerts',
  list: '/api/alerts',
  create: (message) => ({ path: '/api/alert', body: { source: 'faults', level: 'ERROR', message, hostname: 'h' } }),
  change: () => [],
  judge: async (dataDir, sent) => {
    const lines = existsSync(dataDir) ? readLog(dataDir) : [];
    assertAscending(lines);
    const acknowledged = sent.map((list) => list.filter(({ isAcknowledged }) => isAcknowledged));
    return compare(
      acknowledged.map((list) => list.map(({ message, id = '' }) => ({ message, id }))),
      lines,
    );
  },
  inAnswer: /HTTP\/1\.1 200 OK.*\\"received\\":true,\\"id\\":\\"([0-9a-f-]{36})\\"/g,
  inLog: /\\"id\\":\\"([0-9a-f-]{36})\\",\\"seq\\"/g,
};

/** Asserts that seq increases. Failed batches leave gaps. */
const assertAscending = (lines: readonly Line[]): void => {
  const numbers = lines.flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
};
