import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { startSeeded } from '../support/million.ts';
import { createJsonServer } from '../support/opponents.ts';
import { compareRates, type Side } from '../support/rounds.ts';
import { createSeedTask, newTask } from '../support/tasks.ts';
import type { Bench, Row } from './row.ts';

const count = 1000;

interface Work {
  work: string;
  ours: Side;
  theirs: Side;
  atLeast: number;
}

/** Reading tasks, compared with json-server holding the same thousand tasks. */
export const taskReading: Row = { id: 'B9', measure: (bench) => measureReading(bench) };

/** Creating tasks, compared with json-server; both start empty. */
export const taskCreating: Row = { id: 'B9', measure: async (bench) => [await measureCreating(bench)] };

const measureReading = async (bench: Bench): Promise<Finding[]> => {
  const { scope, cores } = bench;
  const server = await startSeeded(scope, cores, count);
  const tasks = Array.from({ length: count }, (_, place) => ({
    id: String(place + 1),
    ...createSeedTask(place, count),
  }));
  const other = await createJsonServer(tasks)(scope, cores);
  // A task in the middle: json-server searches its list from the beginning.
  const id = count / 2;
  const one = {
    work: 'GET /api/tasks/{id}',
    ours: { server, request: { url: `${server.url}/api/tasks/${id}` } },
    theirs: { server: other, request: { url: `${other.url}/tasks/${id}` } },
    atLeast: 5,
  };
  const query = 'Status=Pending&_page=1&_per_page=50';
  const list = {
    work: 'GET /api/tasks?status=Pending, 50 of 1,000',
    ours: { server, request: { url: `${server.url}/api/tasks?status=Pending` } },
    theirs: { server: other, request: { url: `${other.url}/tasks?${query}` } },
    atLeast: 10,
  };
  await requireSameTasks(list);
  return [await compare(bench, one), await compare(bench, list)];
};

const measureCreating = async (bench: Bench): Promise<Finding> => {
  const { scope, cores } = bench;
  const server = await startSeeded(scope, cores, 0);
  const other = await createJsonServer([])(scope, cores);
  return compare(bench, {
    work: 'POST /api/tasks',
    ours: { server, request: createPost(`${server.url}/api/tasks`, newTask) },
    theirs: { server: other, request: createPost(`${other.url}/tasks`, newTask) },
    atLeast: 20,
  });
};

const compare = async (bench: Bench, { work, ours, theirs, atLeast }: Work): Promise<Finding> => {
  const { figures, ...measured } = await compareRates(bench, ours, theirs);
  return {
    id: 'B9',
    work,
    unit: '/s',
    ...measured,
    beside: { name: 'json-server', figures },
    goals: [{ of: 'ratio', atLeast }],
  };
};

/** Throws unless both list the same fifty tasks. */
const requireSameTasks = async ({ ours, theirs }: Work): Promise<void> => {
  const lists = await Promise.all(
    [ours, theirs].map(async ({ request }) => {
      const { data }: { data: { Id?: number; id?: string }[] } = JSON.parse(await ask(request));
      return data.map(({ Id, id }) => id ?? String(Id)).join();
    }),
  );
  if (new Set(lists).size !== 1) throw new Error(`different tasks are listed: ${lists.join(' and ')}`);
};
