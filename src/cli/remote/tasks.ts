import { styleText } from 'node:util';
import type { Task } from '../../features/tasks/schema.ts';
import { readChoice, UsageError } from '../args.ts';
import { escapeControls } from '../stdio.ts';
import { defineAskingCommand, type ListReply, sayIfMore } from './ask.ts';
import { foldSpaces, toTable, withWhole } from './table.ts';

const taskPriorities = ['Critical', 'High', 'Medium', 'Low'];
const openStatuses = ['InProgress', 'Pending'];
const taskStatuses = [...openStatuses, 'Completed', 'Cancelled'];

/** Maximum number of tasks in a response. */
const maxTasks = 1000;

export const tasksCommand = defineAskingCommand({
  name: 'tasks',
  summary: 'List the open tasks of a server, most urgent first.',
  flags: {
    status: {
      value: 'STATUS',
      summary: 'Tasks with this status. Default: open (in progress or pending).',
      choices: taskStatuses,
    },
    priority: { value: 'PRIORITY', summary: 'Only tasks of this priority.', choices: taskPriorities },
  },
  scope: 'incidents:read',
  run: async ({ ask, show }, { own: { status, priority } }) => {
    const wanted = status === undefined ? openStatuses : [readChoice('--status', status, taskStatuses)];
    const only = priority === undefined ? undefined : readChoice('--priority', priority, taskPriorities);
    const all: ListReply<Task> = { data: [], total: 0 };
    for (const each of wanted) {
      const query = { order: 'newest', limit: maxTasks, status: each, priority: only };
      const { data, total } = await ask<ListReply<Task>>('api/tasks', { query });
      all.data.push(...data);
      all.total += total;
    }
    all.data.sort(compareUrgency);
    show(all.data, toTaskTable, `No ${(status ?? only) === undefined ? 'open' : 'matching'} tasks.\n`);
    sayIfMore(all, 'newest');
  },
});

/** Compares tasks for sorting: the most urgent first, then tasks in progress, then the oldest. */
const compareUrgency = (a: Task, b: Task): number =>
  taskPriorities.indexOf(a.Priority) - taskPriorities.indexOf(b.Priority) ||
  taskStatuses.indexOf(a.Status) - taskStatuses.indexOf(b.Status) ||
  a.Id - b.Id;

const toTaskTable = (rows: readonly Task[]): string =>
  toTable(
    ['#', 'PRIORITY', 'STATUS', 'CREATED', 'TASK'],
    rows.map(({ Id, Priority, Status, CreatedAt, Title }) => [
      ...[`${Id}`, Priority, Status, CreatedAt.slice(0, 16).replace('T', ' '), foldSpaces(Title)],
    ]),
    { paint: paintPriority, dropped: ['CREATED'], fixed: ['#', 'CREATED'] },
  );

/** Colours a priority that is padded to its column. */
const paintPriority = (text: string): string => {
  const name = text.trim();
  if (name === 'Critical') return styleText(['bold', 'magenta'], text);
  return name === 'High' ? styleText('red', text) : text;
};

export const taskCommand = defineAskingCommand({
  name: 'task',
  argument: { name: 'NUMBER', numbers: 'tasks' },
  summary: 'Show one task, or change its status.',
  flags: {
    status: { value: 'STATUS', summary: 'New status.', choices: taskStatuses },
  },
  scope: 'incidents:read, or incidents:write for --status',
  run: async ({ ask, show }, { words: [word = ''], own: { status } }) => {
    const number = word.replace(/^#/, '');
    if (!/^\d{1,15}$/.test(number)) throw new UsageError(`${JSON.stringify(word)} is not a task number such as 7`);
    const change = status !== undefined && {
      method: 'PUT',
      body: { Status: readChoice('--status', status, taskStatuses) },
    };
    show([await ask<Task>(`api/tasks/${number}`, change || undefined)], (rows) => rows.map(describeTask).join(''));
  },
});

const describeTask = (row: Task): string => {
  const details = row.Description === '' ? [] : ['', ...row.Description.split(/\r?\n/)];
  return withWhole(toTaskTable([row]), row.Title) + details.map((line) => `${escapeControls(line)}\n`).join('');
};
