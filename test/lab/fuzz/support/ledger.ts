import type { Judged } from './judge.ts';
import { createAlertLedger, createItemLedger, createSimpleTaskLedger } from './list-ledgers.ts';
import type { FuzzRequest } from './request.ts';
import { createTaskLedger } from './task-ledger.ts';

/** Request to a known operation, and its documented response. */
export interface Exchange {
  /** Method and path, e.g. `GET /api/tasks/{id}`, without the base path of the mount. */
  name: string;
  status: number;
  /** Decoded path parameter. Empty if the path has no parameter. */
  id: string;
  query: URLSearchParams;
  sent: Record<string, unknown>;
  json: unknown;
}

/** Checks the state of a profile through its responses. Throws a Finding if the responses contradict each other. */
export type Ledger = (exchange: Exchange) => void;

/** Creates a ledger for all profiles of a server. The tasks of all mounts share one ledger. */
export const createLedger = (): ((request: FuzzRequest, sent: unknown, judged: Judged) => void) => {
  const tasks = createTaskLedger();
  const ledgers: Record<string, Ledger> = {
    tasks,
    'protected-tasks': tasks,
    'simple-tasks': createSimpleTaskLedger(),
    items: createItemLedger(),
    alerts: createAlertLedger(),
    incidents: tasks,
  };
  return ({ target }, sent, { operation, status, json }) => {
    if (!operation || json === undefined) return;
    const [path = '', query = ''] = target.split('?', 2);
    const id = operation.path.includes('{') ? decode(path.replace(/\/$/, '').split('/').at(-1) ?? '') : '';
    const name = `${operation.method} ${operation.path.slice(operation.path.search(/\/(?:api|v1)\//))}`;
    const body = (sent ?? {}) as Record<string, unknown>;
    ledgers[operation.profile]?.({ name, status, id, query: new URLSearchParams(query), sent: body, json });
  };
};

/** Returns the decoded text, or the text itself if it cannot be decoded. */
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
