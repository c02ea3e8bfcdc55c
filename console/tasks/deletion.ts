import { signal } from '@preact/signals';
import { ApiError, client, toAddress } from '../api.ts';
import { findRoute } from '../routes.ts';
import { onLogOut, session } from '../session.ts';
import { explainRefusal } from './reason.ts';

/** What the user has deleted: it is hidden, and deleted on the server once it can no longer be undone. */
export const leaving = signal<ReadonlySet<number>>(new Set());

/** The version of a task that may be deleted. */
export type Version = { ifMatch?: string };

/** What is waiting to be deleted, by task. */
const waiting = new Map<number, Version>();

/** Hides a task. An id is never used again, so one that is deleted may stay hidden. */
export const beginDeletion = (id: number, version: Version): void => {
  waiting.set(id, version);
  leaving.value = new Set([...leaving.value, id]);
};

export const undoDeletion = (id: number): void => {
  waiting.delete(id);
  leaving.value = new Set([...leaving.value].filter((each) => each !== id));
};

/** Deletes the task. It shows again if it could not be deleted (the reason is returned) or somebody else has changed it. */
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

/** Completes all deletions at once, with requests that outlive the page. */
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
