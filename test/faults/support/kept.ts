import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { compare, type Line, readLog, type Verdict } from './compare.ts';

/** A request that changes what is stored. */
export interface Operation {
  kind: 'create' | 'update' | 'remove';
  /** The alert's message or the task's title; never sent twice. */
  message: string;
  /** Undefined where no response told it. */
  id: string | undefined;
  /** How the task's description begins afterwards. */
  text?: string;
  /** Where not, it may or may not have happened. */
  isAcknowledged: boolean;
}

/** A request that changes a record again. */
export interface Step extends Pick<Operation, 'kind' | 'text'> {
  method: string;
  path: string;
  body?: object;
}

/** What a server keeps on disk: how it is sent, and how what was kept is judged after a fault. */
export interface Kept {
  what: 'alert' | 'task';
  /** Flags of a server that keeps it. */
  flags: string[];
  /** Additional flags with which the log is divided into many files. */
  smallSegments: string[];
  /** The log's name. */
  log: string;
  /** The path of a list. */
  list: string;
  create(message: string): { path: string; body: object };
  /** What is done to a record after it was created. */
  change(id: string, message: string): Step[];
  /** Compares what was sent with what the data directory has; each inner list belongs to one client, in order. */
  judge(dataDir: string, sent: readonly Operation[][]): Promise<Verdict>;
  /** Find in a trace what a successful response acknowledges, and what is written to the log. */
  inAnswer: RegExp;
  inLog: RegExp;
}

/** Alerts, each of which is a line of the log. */
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

/** Failed batches leave gaps in seq, but seq always increases. */
const assertAscending = (lines: readonly Line[]): void => {
  const numbers = lines.flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
};
