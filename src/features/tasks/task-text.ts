import { ownJson } from '../../http/json.ts';
import type { Task } from './schema.ts';
import type { StoredTask } from './store.ts';

/** Task to store, with the fields that filters use. */
export interface TaskEntry extends StoredTask {
  readonly status: Task['Status'];
  readonly priority: Task['Priority'];
}

export const toTaskEntry = (task: Task, version: number): TaskEntry => {
  const { Id: id, Status: status, Priority: priority } = task;
  return { id, version, status, priority, text: toTaskText(task) };
};

/** Writes a task as JSON with its members in schema order. Uses half the memory of JSON.stringify. */
const toTaskText = ({ Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt }: Task): string => {
  const parts = ['{"Id":', Id, ',"Title":', JSON.stringify(Title), ',"Description":', JSON.stringify(Description)];
  parts.push(',"Priority":"', Priority, '","Status":"', Status, '","CreatedAt":"', CreatedAt);
  if (UpdatedAt !== undefined) parts.push('","UpdatedAt":"', UpdatedAt);
  parts.push('"}');
  return parts.join('');
};

export const readTaskId = (text: string): number => Number.parseInt(text.slice('{"Id":'.length, 24), 10);

/** Converts a search text to the form that occurs in the lower-case JSON of titles. */
export const toTitlePart = (q: string): string => JSON.stringify(q.toLowerCase()).slice(1, -1);

/** Consecutive tasks in a list, sent as joined strings. */
export class TaskRows implements Iterable<Task> {
  readonly [ownJson]: string;
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this[ownJson] = texts.join(',');
  }

  *[Symbol.iterator](): Iterator<Task> {
    for (const text of this.#texts) yield JSON.parse(text);
  }
}
