import { ownJson } from '../../http/json.ts';
import { type Versioned, version } from '../../storage/versions.ts';
import { Task } from './schema.ts';

/** The task as JSON, its members in the order of the schema. Takes half the memory of JSON.stringify's result. */
export const toTaskText = (task: Task): string => {
  const { Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt } = task;
  const parts = ['{"Id":', Id, ',"Title":', JSON.stringify(Title), ',"Description":', JSON.stringify(Description)];
  parts.push(',"Priority":"', Priority, '","Status":"', Status, '","CreatedAt":"', CreatedAt);
  if (UpdatedAt !== undefined) parts.push('","UpdatedAt":"', UpdatedAt);
  parts.push('"}');
  return parts.join('');
};

/** The id in a task's text. */
export const readId = (text: string): number => Number.parseInt(text.slice('{"Id":'.length, 24), 10);

/** What to look for in the text of a title, as `isTitled` and the database compare it: JSON, in lower case. */
export const toTitlePart = (q: string): string => JSON.stringify(q.toLowerCase()).slice(1, -1);

/** Whether the title in a task's text contains this part. Nothing is parsed: a search looks at every title. */
export const isTitled = (text: string, part: string): boolean => {
  const from = text.indexOf('"Title":') + '"Title":'.length;
  return text.slice(from, text.indexOf(',"Description":', from)).toLowerCase().includes(part);
};

/** A stored task: its JSON text, which is parsed only when a field is read. */
class TaskInText {
  readonly [ownJson]: string;
  readonly [version]: number;

  constructor(text: string, ofVersion: number) {
    this[ownJson] = text;
    this[version] = ofVersion;
  }
}

for (const field of Object.keys(Task.properties)) {
  Object.defineProperty(TaskInText.prototype, field, {
    get(this: TaskInText) {
      return JSON.parse(this[ownJson])[field];
    },
  });
}

/** The task that the text says. */
export const toStoredTask = (text: string, ofVersion: number): Versioned<Task> =>
  new TaskInText(text, ofVersion) as unknown as Versioned<Task>;

/** The task as a plain object. */
export const toPlainTask = (task: Task): Task => JSON.parse((task as unknown as TaskInText)[ownJson]);

/** Consecutive tasks of a list, which are sent as their joined texts. */
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
