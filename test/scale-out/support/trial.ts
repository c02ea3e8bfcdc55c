import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../support/client.ts';
import type { Random } from '../../support/random.ts';
import { waitUntil } from '../../support/wait.ts';
import { type FinalTask, type Operation, print } from './history.ts';
import { checkIds, type IdFaults } from './ids.ts';
import type { Instances } from './instances.ts';
import { findInexplicable } from './linearizability.ts';
import { startWorkload, type Workload } from './workload.ts';

/** Milliseconds that any request may take: its deadline of 10 s, and a busy machine. */
const longestRequestMs = 13_000;

export interface Verdict extends IdFaults {
  operations: number;
  acknowledged: number;
  unknown: number;
  /** The histories of tasks that no order of their operations explains. */
  inexplicable: Operation[][];
  /** The slowest request in milliseconds. */
  slowest: number;
  answers: string;
}

interface Options {
  instances: Instances;
  random: Random;
  /** Disturbs the store or the instances while clients use them; returns when all is as before. */
  fault(workload: Workload): Promise<unknown>;
  /** Acknowledged operations before the fault, and after it; 300 by default. */
  between?: number;
}

/** Runs clients before, during and after a fault, and judges their history. */
export const runTrial = async (t: TestContext, options: Options): Promise<Verdict> => {
  const { instances, random, fault, between = 300 } = options;
  const workload = startWorkload(t, { urls: instances.urls, random });
  await waitForMore(workload, between);
  await fault(workload);
  await waitForMore(workload, between);
  await workload.stop();
  return judge(workload, instances);
};

/** Waits until so many more operations are acknowledged. */
export const waitForMore = async (workload: Workload, count: number): Promise<void> => {
  const before = workload.acknowledged();
  const what = `${count} operations are acknowledged`;
  const isReached = (): boolean => workload.acknowledged() >= before + count;
  await waitUntil(what, isReached).catch((error: Error) => assert.fail(`${error.message}: ${printAnswers(workload)}`));
};

/** Checks the history of ended clients against the list that each instance has. */
const judge = async ({ operations, answers, wrong, slowest }: Workload, { all }: Instances): Promise<Verdict> => {
  const last = await createLast(all[0].url);
  const list = await readList(all[0].url);
  for (const { url } of all.slice(1)) assert.deepEqual(await readList(url), list);
  const found = new Map(list.map(({ id, title }) => [title, id]));
  const complete = [...operations, last].map((operation) =>
    operation.kind === 'create' && operation.id === undefined
      ? { ...operation, id: found.get(operation.value ?? '') }
      : operation,
  );
  const ids = checkIds(complete, list);
  return {
    ...ids,
    wrong: [...ids.wrong, ...wrong],
    operations: operations.length,
    acknowledged: operations.filter(({ outcome }) => outcome === 'ok').length,
    unknown: operations.filter(({ outcome, kind }) => outcome === 'unknown' && kind !== 'read').length,
    inexplicable: findInexplicable([...complete, ...readFinally(complete, list)]),
    slowest: slowest(),
    answers: printAnswers({ answers }),
  };
};

const printAnswers = ({ answers }: Pick<Workload, 'answers'>): string =>
  [...answers].map(([answer, count]) => `${answer}: ${count}`).join(', ');

/** One more creation: ids that are missing before it are gaps. */
const createLast = async (url: string): Promise<Operation> => {
  const { request, close } = createClient(url);
  const body = { Title: 'last', Description: 'last' };
  const begin = performance.now();
  let id = 0;
  const created = async (): Promise<boolean> => {
    const headers = { 'idempotency-key': 'last' };
    const { status, json } = await request<{ Id: number }>('POST', '/api/tasks', { body, headers });
    id = json?.Id;
    return status === 201;
  };
  await waitUntil('a task is created', created).finally(close);
  return { client: -1, kind: 'create', id, value: 'last', begin, end: performance.now(), outcome: 'ok', answer: 201 };
};

const readList = async (url: string): Promise<FinalTask[]> => {
  const { request, close } = createClient(url);
  const path = `/api/tasks?limit=${Number.MAX_SAFE_INTEGER}`;
  type List = { total: number; data: { Id: number; Title: string; Description: string }[] };
  const { status, json, text } = await request<List>('GET', path).finally(close);
  assert.equal(status, 200, text);
  assert.equal(json.total, json.data.length);
  return json.data.map(({ Id, Title, Description }) => ({ id: Id, title: Title, value: Description }));
};

/** The final list as a read of each task of the history. */
const readFinally = (operations: readonly Operation[], list: readonly FinalTask[]): Operation[] => {
  const now = performance.now();
  const values = new Map(list.map(({ id, value }) => [id, value]));
  const ids = new Set(operations.flatMap(({ id }) => id ?? []));
  return [...ids].map((id) => {
    const value = values.get(id);
    const outcome = value === undefined ? 'absent' : 'ok';
    return { client: -1, kind: 'read', id, value, begin: now, end: now, outcome, answer: 'list' };
  });
};

/** Prints a verdict in one line, and asserts that nothing is lost, duplicated, missing or out of order. */
export const assertSound = (t: TestContext, what: string, verdict: Verdict): void => {
  t.diagnostic(`${what}: ${summarize(verdict)}`);
  const { lost, duplicated, gaps, wrong, inexplicable } = verdict;
  assert.deepEqual({ lost, duplicated, gaps, wrong }, { lost: [], duplicated: [], gaps: [], wrong: [] });
  assert.equal(inexplicable.length, 0, inexplicable.slice(0, 2).map(print).join('\n\n'));
  assert.ok(verdict.slowest <= longestRequestMs, `the slowest request took ${verdict.slowest} ms`);
};

/** The figures of a verdict. */
export const summarize = (verdict: Verdict): string =>
  `${verdict.operations} operations, ${verdict.acknowledged} acknowledged, ${verdict.unknown} unknown, ` +
  `${verdict.lost.length} lost, ${verdict.duplicated.length} duplicated, ${verdict.gaps.length} gaps, ` +
  `${verdict.inexplicable.length} not linearizable, slowest ${(verdict.slowest / 1000).toFixed(2)} s; ${verdict.answers}`;
