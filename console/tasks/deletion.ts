import { signal } from '@preact/signals';
import { ApiError, client, toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';
import { onLogOut, session } from '../session.ts';
import { explainRefusal } from './reason.ts';

/** Ids of tasks that the user has deleted. They are hidden immediately and deleted on the server when undo expires. */
export const leaving = signal<ReadonlySet<number>>(new Set());

/** Version of a task that may be deleted. */
export type Version = { ifMatch?: string };

/** Pending deletions by task id. */
const waiting = new Map<number, Version>();

/** Hides a task. Its id may stay hidden after the deletion, because ids are never reused. */
export const beginDeletion = (id: number, version: Version): void => {
  waiting.set(id, version);
  leaving.value = new Set([...leaving.value, id]);
};

export const undoDeletion = (id: number): void => {
  waiting.delete(id);
  leaving.value = new Set([...leaving.value].filter((each) => each !== id));
};

/**
 * Deletes a task on the server. After a change by others or a failure, shows the task again. Returns the reason for a
 * failure.
 */
export const completeDeletion = async (id: number): Promise<'deleted' | 'changed' | { reason: string }> => {
  const version = waiting.get(id);
  waiting.delete(id);
  if (!version) return 'deleted';
  try {
    await client.deleteTask({ id }, version);
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 404) return 'deleted';
    undoDeletion(id);
    return status === 412 ? 'changed' : { reason: explainRefusal(error) };
  }
  return 'deleted';
};

/** Sends all pending deletions. The requests continue after the page is closed. */
const flush = (): void => {
  const path = findRoute('deleteTask')?.path ?? '';
  const token = session.peek()?.token;
  for (const [id, { ifMatch }] of waiting) {
    const headers = { ...(ifMatch && { 'If-Match': ifMatch }), ...(token && { Authorization: `Bearer ${token}` }) };
    void fetch(toAddress(path.replace('{id}', `${id}`)), { method: 'DELETE', keepalive: true, headers }).then(
      ({ ok }) => ok || undoDeletion(id),
      () => undoDeletion(id),
    );
  }
  waiting.clear();
};

addEventListener('pagehide', flush);
onLogOut(flush);
