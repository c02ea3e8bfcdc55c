import type { NewTask, Task, TaskChanges, TaskSeed } from '../../src/features/tasks/schema.ts';
import type { TaskFilter } from '../../src/features/tasks/store.ts';

/** Creates a model of tasks: a plain list, with each operation in its simplest form. `now` is the clock. */
export const createTaskModel = (now: () => string) => {
  let tasks: Task[] = [];
  let lastId = 0;
  const indexOf = (id: number): number => tasks.findIndex(({ Id }) => Id === id);
  const add = (task: Task): string => {
    tasks.push(task);
    return JSON.stringify(task);
  };
  return {
    create: ({ Title, Description = '', Priority = 'Medium' }: NewTask) =>
      add({ Id: ++lastId, Title, Description, Priority, Status: 'Pending', CreatedAt: now() }),
    find: (id: number) => JSON.stringify(tasks[indexOf(id)]),
    update: (id: number, changes: TaskChanges) => {
      const index = indexOf(id);
      const task = tasks[index];
      if (!task) return undefined;
      const { UpdatedAt: _, ...rest } = task;
      const updated = { ...rest, ...changes, UpdatedAt: now() };
      tasks[index] = updated;
      return JSON.stringify(updated);
    },
    remove: (id: number) => {
      const index = indexOf(id);
      if (index === -1) return undefined;
      tasks = tasks.toSpliced(index, 1);
      return tasks.length;
    },
    list: ({ status, priority }: TaskFilter, limit: number) => {
      const matches = tasks.filter(
        ({ Status, Priority }) => (status ?? Status) === Status && (priority ?? Priority) === Priority,
      );
      const listed = matches.slice(0, limit);
      return {
        total: matches.length,
        count: listed.length,
        text: listed.map((task) => JSON.stringify(task)).join(','),
      };
    },
    restore: ({ Id = lastId + 1, Title, Description = '', CreatedAt = now(), ...rest }: TaskSeed) => {
      if (Id <= lastId) return false;
      lastId = Id;
      const { Priority = 'Medium', Status = 'Pending', UpdatedAt } = rest;
      const task = { Id, Title, Description, Priority, Status, CreatedAt };
      add(UpdatedAt === undefined ? task : { ...task, UpdatedAt });
      return true;
    },
    size: () => tasks.length,
    idAt: (place: number) => tasks[place]?.Id ?? 0,
    lastId: () => lastId,
  };
};

export type TaskModel = ReturnType<typeof createTaskModel>;
