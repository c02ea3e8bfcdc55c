import type { Task } from './tasks.ts';

/** A task without its times: whether it was updated stands for UpdatedAt. */
export type ExpectedTask = Omit<Task, 'CreatedAt' | 'UpdatedAt'> & { updated: boolean };
type Fields = Partial<Pick<Task, 'Title' | 'Description' | 'Priority' | 'Status'>>;

/** One request. */
export type Operation =
  | { kind: 'create'; fields: Fields & { Title: string } }
  | { kind: 'update'; id: number; fields: Fields }
  | { kind: 'delete'; id: number }
  | { kind: 'read'; id: number }
  | { kind: 'list'; status?: string; priority?: string; limit?: number };

/** The status that a request is answered with, and the task or list in the answer. */
interface Outcome {
  status: number;
  body?: unknown;
}

/** Tasks as a plain list, and what each operation does to it and must be answered with. */
export const createModel = (): ((step: Operation) => Outcome) => {
  let tasks: ExpectedTask[] = [];
  let lastId = 0;
  const change = (task: ExpectedTask, changes: Fields): ExpectedTask => {
    const updated = { ...task, ...withoutEmpty(changes), updated: true };
    tasks = tasks.map((other) => (other === task ? updated : other));
    return updated;
  };
  return (step) => {
    if (step.kind === 'list') return { status: 200, body: select(tasks, step) };
    if (step.kind === 'create') {
      const defaults = { Id: ++lastId, Description: '', Priority: 'Medium', updated: false };
      const task: ExpectedTask = { ...defaults, ...step.fields, Status: 'Pending' };
      tasks.push(task);
      return { status: 201, body: task };
    }
    const task = tasks.find(({ Id }) => Id === step.id);
    if (!task) return { status: 404 };
    if (step.kind === 'update') return { status: 200, body: change(task, step.fields) };
    if (step.kind === 'read') return { status: 200, body: task };
    tasks = tasks.filter((other) => other !== task);
    return { status: 200, body: tasks.length };
  };
};

const withoutEmpty = (changes: Fields): Fields =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== ''));

const select = (
  tasks: ExpectedTask[],
  { status, priority, limit = 50 }: { status?: string; priority?: string; limit?: number },
) => {
  const matches = tasks.filter(
    (task) => (status ?? task.Status) === task.Status && (priority ?? task.Priority) === task.Priority,
  );
  const data = matches.slice(0, limit);
  return { total: matches.length, count: data.length, limit, data };
};
