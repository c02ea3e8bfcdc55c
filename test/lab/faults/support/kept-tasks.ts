import type { Verdict } from './compare.ts';
import type { Kept, Operation, Step } from './kept.ts';
import { killServer } from './kill.ts';
import { startServer } from './server.ts';

interface StoredTask {
  Id: number;
  Title: string;
  Description: string;
}

/** Tasks in the file store, with descriptions of a given length. Most tasks are changed, and half are deleted. */
export const keepTasks = (descriptionLength = 0): Kept => {
  const kept: Kept = {
    what: 'task',
    flags: ['--profiles', 'tasks', '--store', 'file'],
    smallSegments: [],
    log: 'tasks',
    list: '/api/tasks',
    create: (Title) => ({
      path: '/api/tasks',
      body: { Title, Description: `${toText(Title, 1)} ${'x'.repeat(descriptionLength)}` },
    }),
    change: (id, message) => {
      const path = `/api/tasks/${id}`;
      const text = toText(message, 2);
      const update: Step = { kind: 'update', text, method: 'PUT', path, body: { Description: text } };
      const remove: Step = { kind: 'remove', method: 'DELETE', path };
      return [[], [update], [update, remove], [remove]][Number(id) % 4] ?? [];
    },
    judge: async (dataDir, sent) => {
      const { tasks, refusal } = await readTasks(kept, dataDir);
      return refusal === undefined ? judgeTasks(sent, tasks) : { ...judgeTasks(sent, []), lost: [refusal] };
    },
    inAnswer: /HTTP\/1\.1 20[01] .*\\"Description\\":\\"([\w.-]+)/g,
    inLog: /\\"Description\\":\\"([\w.-]+)/g,
  };
  return kept;
};

/** Tasks with short descriptions. */
export const tasks = keepTasks();

/** Returns the text that identifies a task after its first, second or later request. */
const toText = (message: string, step: number): string => `${message}.${step}`;

/** Returns all tasks that a server finds in the data directory, or the reason why it does not start. */
const readTasks = async (kept: Kept, dataDir: string): Promise<{ tasks: StoredTask[]; refusal?: string }> => {
  let refusal = '';
  const server = await startServer({ kept, dataDir, onRefusal: (stderr) => (refusal = stderr) });
  if (!server) return { tasks: [], refusal };
  try {
    const answer = await fetch(`${server.url}${kept.list}?limit=1000000000`);
    return { tasks: ((await answer.json()) as { data: StoredTask[] }).data };
  } finally {
    await killServer(server);
  }
};

/**
 * Information about a task: its id and its possible contents. Undefined among the contents stands for a deleted task.
 */
interface Expected {
  id: number | undefined;
  texts: Set<string | undefined>;
}

/** Compares each client's requests with the stored tasks. */
const judgeTasks = (sent: readonly Operation[][], stored: readonly StoredTask[]): Verdict => {
  const byTitle = new Map<string, StoredTask[]>();
  for (const task of stored) byTitle.set(task.Title, [...(byTitle.get(task.Title) ?? []), task]);
  const acknowledged = sent.flat().filter(({ isAcknowledged }) => isAcknowledged);
  const verdict: Verdict = { acknowledged: acknowledged.length, lost: [], duplicated: [], misplaced: [] };
  for (const [message, { id, texts }] of foldAll(sent)) {
    const [task, ...more] = byTitle.get(message) ?? [];
    const isOther = task !== undefined && id !== undefined && task.Id !== id;
    if (isOther || !texts.has(task?.Description.split(' ')[0])) verdict.lost.push(message);
    if (more.length > 0) verdict.duplicated.push(message);
  }
  for (const list of sent) verdict.misplaced.push(...findMisplaced(list));
  verdict.duplicated.push(...findReused(acknowledged));
  verdict.lost.push(...findGaps(sent.flat(), stored));
  return verdict;
};

/** Folds all requests into the expected tasks, by title. */
const foldAll = (sent: readonly Operation[][]): Map<string, Expected> => {
  const all = new Map<string, Expected>();
  for (const { message, id, kind, text, isAcknowledged } of sent.flat()) {
    const { texts } = all.get(message) ?? { texts: new Set<string | undefined>([undefined]) };
    if (isAcknowledged) texts.clear();
    texts.add(kind === 'remove' ? undefined : text);
    all.set(message, { id: id === undefined ? undefined : Number(id), texts });
  }
  return all;
};

/** Finds a client's new tasks with ids that are lower than an earlier id. */
const findMisplaced = (list: readonly Operation[]): string[] => {
  const created = list.filter(({ kind, isAcknowledged }) => kind === 'create' && isAcknowledged);
  return created
    .filter(({ id }, index) => Number(id) <= Number(created[index - 1]?.id ?? 0))
    .map(({ message }) => message);
};

/** Finds ids that two tasks have got. */
const findReused = (acknowledged: readonly Operation[]): string[] => {
  const given = new Set<string | undefined>();
  const created = acknowledged.filter(({ kind }) => kind === 'create');
  return created.filter(({ id }) => given.size === given.add(id).size).map(({ id }) => `id ${id}`);
};

/**
 * Finds ids up to the last one that no task has although nobody deleted a task with that id. The last id is stored, or
 * is known to have been stored, because a client may delete a task that was acknowledged just after the cut and is
 * lost.
 */
const findGaps = (sent: readonly Operation[], stored: readonly StoredTask[]): string[] => {
  const idsOf = (operations: readonly Operation[]) =>
    operations.flatMap(({ id }) => (id === undefined ? [] : Number(id)));
  const storedIds = stored.map(({ Id }) => Id);
  const known = new Set([...storedIds, ...idsOf(sent.filter(({ kind }) => kind === 'remove'))]);
  const last = Math.max(0, ...storedIds, ...idsOf(sent.filter(({ isAcknowledged }) => isAcknowledged)));
  return Array.from({ length: last }, (_, index) => index + 1)
    .filter((id) => !known.has(id))
    .map((id) => `no task ${id}`);
};
