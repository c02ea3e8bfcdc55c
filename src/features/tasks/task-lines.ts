import Type, { type Static } from 'typebox';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import type { TaskChange } from './decide.ts';
import { Task } from './schema.ts';
import { toTaskEntry } from './task-text.ts';

/** Writes a change as a line of a file, in the format of version 1.0.0. */
export const writeTaskChange = (change: TaskChange): string => {
  if ('put' in change) {
    const created = change.created ? `,"created":${JSON.stringify(change.created)}` : '';
    return `{"task":${change.put.text},"version":${change.put.version}${created}}`;
  }
  return 'key' in change ? `{"key":${JSON.stringify(change.key)},"task":${change.text}}` : JSON.stringify(change);
};

/** Returns the approximate length of a line. All members except the task are short. */
export const toChangeLength = (change: TaskChange): number => {
  const task = 'put' in change ? change.put : change;
  return 'text' in task ? task.text.length + 64 : 32;
};

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const StoredTaskLine = Type.Object({
  ...Task.properties,
  Id: Count,
  Title: Type.String(),
  CreatedAt: Type.String(),
  UpdatedAt: Type.Optional(Type.String()),
});
const StoredKeyLine = Type.Object({ key: Type.String(), bodyHash: Type.String(), storedAt: Count });

const TaskLine = Type.Union([
  Type.Object({ removed: Count }),
  Type.Object({ lastId: Count }),
  Type.Object({ task: StoredTaskLine, key: StoredKeyLine }),
  Type.Object({ task: StoredTaskLine, version: Count, created: Type.Optional(StoredKeyLine) }),
]);

const isTaskLine = createSchemaCheck(TaskLine);

/** Reads a change. Undefined for a line written by a newer version. */
export const readTaskChange = (value: unknown): TaskChange | undefined => {
  if (!isTaskLine(value)) return undefined;
  const line = value as Static<typeof TaskLine>;
  if ('removed' in line) return { removed: line.removed };
  if ('lastId' in line) return { lastId: line.lastId };
  if ('key' in line) return { key: line.key, text: toTaskEntry(line.task, 1).text };
  return { put: toTaskEntry(line.task, line.version), ...(line.created && { created: line.created }) };
};
