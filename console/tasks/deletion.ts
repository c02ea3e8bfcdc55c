import { signal } from '@preact/signals';
import { ApiError, send, toAddress } from '../api.ts';
import { findRoute } from '../mounts.ts';
import { onLogOut, session } from '../session.ts';
import { deleteTask, toReason } from './calls.ts';

/** What the user has deleted: it is hidden, and deleted on the server once it can no longer be undone. */
export const leaving = signal<ReadonlySet<number>>(new Set());

/** The headers of the waiting requests, by task. */
const waiting = new Map<number, Record<string, string>>();

/** Hides a task. An id is never used again, so one that is deleted may stay hidden. */
export const beginDeletion = (id: number, headers: Record<string, string>): void => {
  waiting.set(id, headers);
  leaving.value = new Set([...leaving.value, id]);
};

export const undoDeletion = (id: number): void => {
  waiting.delete(id);
  leaving.value = new Set([...leaving.value].filter((each) => each !== id));
};

/** Deletes the task. It shows again if it could not be deleted (the reason is returned) or somebody else has changed it. */
export const completeDeletion = async (id: number): Promise<'deleted' | 'changed' | { reason: string }> => {
  const headers = waiting.get(id);
  waiting.delete(id);
  if (!headers) return 'deleted';
  try {
    await send(deleteTask, { params: { id }, headers });
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 404) return 'deleted';
    undoDeletion(id);
    return status === 412 ? 'changed' : { reason: toReason(error) };
  }
  return 'deleted';
};

/** Completes all deletions at once, with requests that outlive the page. */
const flush = (): void => {
  for (const [id, headers] of waiting) {
    const path = (findRoute(deleteTask)?.path ?? deleteTask.path).replace('{id}', `${id}`);
    const token = session.peek()?.token;
    const authorization = token && { Authorization: `Bearer ${token}` };
    void fetch(toAddress(path), { method: 'DELETE', keepalive: true, headers: { ...headers, ...authorization } }).then(
      ({ ok }) => ok || undoDeletion(id),
      () => undoDeletion(id),
    );
  }
  waiting.clear();
};

addEventListener('pagehide', flush);
onLogOut(flush);
