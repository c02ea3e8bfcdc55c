import { styleText } from 'node:util';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { escapeControls, print, say } from '../stdio.ts';
import { ask, askedVariables, askingExitCodes, jsonFlag, printLines, urlFlag } from './ask.ts';
import { readServer } from './server.ts';
import { toOneLine, toTable, withWhole } from './table.ts';

/** What the commands print of a task; times are local ones of the server. */
interface TaskRow {
  Id: number;
  Title: string;
  Description: string;
  Priority: string;
  Status: string;
  CreatedAt: string;
}

const priorities = ['Critical', 'High', 'Medium', 'Low'];
const openStatuses = ['InProgress', 'Pending'];
const statuses = [...openStatuses, 'Completed', 'Cancelled'];

/** Tasks of one response. */
const mostTasks = 1000;

export const tasksCommand = defineCommand({
  name: 'tasks',
  summary: 'List the open tasks of a server, the most urgent first.',
  flags: {
    status: { value: 'STATUS', summary: 'Only these. Default open: in progress or pending.', choices: statuses },
    priority: { value: 'PRIORITY', summary: 'Only tasks of this priority.', choices: priorities },
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:read'),
  exitCodes: askingExitCodes,
  run: async ({ own: { status, priority, json, url } }) => {
    const wanted = status === undefined ? openStatuses : [readWord('--status', status, statuses)];
    const only = priority === undefined ? undefined : readWord('--priority', priority, priorities);
    const server = readServer(url);
    const rows: TaskRow[] = [];
    let count = 0;
    for (const each of wanted) {
      const query = new URLSearchParams({ order: 'newest', limit: `${mostTasks}`, status: each });
      if (only !== undefined) query.set('priority', only);
      const code = await ask(server, 'GET', `api/tasks?${query}`, undefined, ({ data, total }) => {
        rows.push(...(data as TaskRow[]));
        count += Number(total);
      });
      if (code !== 0) return code;
    }
    rows.sort(compareUrgency);
    if (json) printLines(rows);
    else if (rows.length === 0) print(`No ${status === undefined && only === undefined ? 'open' : 'such'} tasks.\n`);
    else print(toTaskTable(rows));
    if (count > rows.length) say(`${count} match; these are the ${rows.length} newest`);
    return 0;
  },
});

/** The most urgent first, then what somebody works on, then the oldest. */
const compareUrgency = (a: TaskRow, b: TaskRow): number =>
  priorities.indexOf(a.Priority) - priorities.indexOf(b.Priority) ||
  statuses.indexOf(a.Status) - statuses.indexOf(b.Status) ||
  a.Id - b.Id;

const toTaskTable = (rows: readonly TaskRow[]): string =>
  toTable(
    ['#', 'PRIORITY', 'STATUS', 'CREATED', 'TASK'],
    rows.map(({ Id, Priority, Status, CreatedAt, Title }) => [
      ...[`${Id}`, Priority, Status, CreatedAt.slice(0, 16).replace('T', ' '), toOneLine(Title)],
    ]),
    { paint: paintPriority, dropped: ['CREATED'], fixed: ['#', 'CREATED'] },
  );

/** Colours the name of a priority, in a column of its own. */
const paintPriority = (text: string): string => {
  const name = text.trim();
  if (name === 'Critical') return styleText(['bold', 'magenta'], text);
  return name === 'High' ? styleText('red', text) : text;
};

export const taskCommand = defineCommand({
  name: 'task',
  argument: { name: 'NUMBER', numbers: 'tasks' },
  summary: 'Show one task, or change its status.',
  flags: {
    status: { value: 'STATUS', summary: 'What it is from now on.', choices: statuses },
    json: jsonFlag,
    url: urlFlag,
  },
  variables: askedVariables('incidents:read, or incidents:write for --status'),
  exitCodes: askingExitCodes,
  run: ({ words: [word = ''], own: { status, json, url } }) => {
    const number = word.replace(/^#/, '');
    if (!/^\d{1,15}$/.test(number)) throw new UsageError(`a task has a number such as 7, not ${JSON.stringify(word)}`);
    const body = status === undefined ? undefined : { Status: readWord('--status', status, statuses) };
    return ask(readServer(url), body ? 'PUT' : 'GET', `api/tasks/${number}`, body, (shown) => {
      const row = shown as unknown as TaskRow;
      if (json) {
        printLines([row]);
        return;
      }
      const details = row.Description === '' ? [] : ['', ...row.Description.split(/\r?\n/)];
      print(withWhole(toTaskTable([row]), row.Title) + details.map((line) => `${escapeControls(line)}\n`).join(''));
    });
  },
});

/** One of the words, in any case and with hyphens. Throws a UsageError. */
const readWord = (flag: string, text: string, words: readonly string[]): string => {
  const plain = text.replaceAll(/[-_ ]/g, '').toLowerCase();
  const word = words.find((each) => each.toLowerCase() === plain);
  if (word !== undefined) return word;
  throw new UsageError(`${flag} must be one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
};
