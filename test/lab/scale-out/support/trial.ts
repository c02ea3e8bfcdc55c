import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createClient } from '../../../support/client.ts';
import type { Random } from '../../../support/random.ts';
import { waitForMore, waitUntil } from '../../../support/wait.ts';
import { type FinalTask, type Operation, print } from './history.ts';
import { checkIds, type IdFaults } from './ids.ts';
import type { Instances } from './instances.ts';
import { findInexplicable } from './linearizability.ts';
import { startWorkload, type Workload } from './workload.ts';

/** Maximum milliseconds of any request: the deadline of 10 s, plus the delay on a busy machine. */
const longestRequestMs = 13_000;

export interface Verdict extends IdFaults {
  operations: number;
  acknowledged: number;
  unknown: number;
  /** Number of requests refused with 503. */
  refused: number;
  /** Histories of tasks that no order of their operations can explain. */
  inexplicable: Operation[][];
  /** Slowest request in milliseconds. */
  slowest: number;
  answers: string;
}

interface Options {
  instances: Instances;
  random: Random;
  /** Disturbs the store or the instances while clients use them. Resolves when the disturbance is over. */
  fault(workload: Workload): Promise<unknown>;
  /** Number of operations that must be acknowledged before the fault, and again after it. Default: 300. */
  between?: number;
}

/** Runs clients before, during and after a fault, and checks their history. */
export const runTrial = async (t: TestContext, options: Options): Promise<Verdict> => {
  const { instances, random, fault, between = 300 } = options;
  const tag = randomUUID().slice(0, 8);
  const { id: base = 0 } = await createMarker(instances, `${tag}-first`);
  const workload = startWorkload(t, { urls: instances.urls, random, tag });
  await waitForOperations(workload, between);
  await fault(workload);
  await waitForOperations(workload, between);
  await workload.stop();
  const last = await createMarker(instances, `${tag}-last`);
  const list = await readAfter(base, instances);
  return judge(workload, last, list, base);
};

/** Waits until a number of further operations have been acknowledged. */
export const waitForOperations = async (workload: Workload, count: number): Promise<void> => {
  const what = `${count} operations are acknowledged`;
  await waitForMore(what, workload.acknowledged, count).catch((error: Error) =>
    assert.fail(`${error.message}: ${printAnswers(workload)}`),
  );
};

/** Checks the history of stopped clients against the tasks with ids after `base`. */
const judge = (
  { operations, answers, wrong, slowest }: Workload,
  last: Operation,
  list: readonly FinalTask[],
  base: number,
): Verdict => {
  const found = new Map(list.map(({ id, title }) => [title, id]));
  const complete = [...operations, last].map((operation) =>
    operation.kind === 'create' && operation.id === undefined
      ? { ...operation, id: found.get(operation.value ?? '') }
      : operation,
  );
  const ids = checkIds(complete, list, base);
  return {
    ...ids,
    wrong: [...ids.wrong, ...wrong],
    operations: operations.length,
    acknowledged: operations.filter(({ outcome }) => outcome === 'ok').length,
    unknown: operations.filter(({ outcome, kind }) => outcome === 'unknown' && kind !== 'read').length,
    refused: [...answers].reduce((sum, [answer, count]) => sum + (/^503 (?!of HAProxy)/.test(answer) ? count : 0), 0),
    inexplicable: findInexplicable([...complete, ...readFinally(complete, list)]),
    slowest: slowest(),
    answers: printAnswers({ answers }),
  };
};

const printAnswers = ({ answers }: Pick<Workload, 'answers'>): string =>
  [...answers].map(([answer, count]) => `${answer}: ${count}`).join(', ');

/** Creates a task before or after all other tasks. Ids missing between two such tasks are gaps. */
const createMarker = async ({ all: [{ url }] }: Instances, value: string): Promise<Operation> => {
  const { request, close } = createClient(url);
  const body = { Title: value, Description: value };
  const begin = performance.now();
  let id: number | undefined;
  const created = async (): Promise<boolean> => {
    const headers = { 'idempotency-key': value };
    const { status, json } = await request<{ Id: number }>('POST', '/api/tasks', { body, headers });
    id = json?.Id;
    return status === 201;
  };
  await waitUntil('a task is created', created).finally(close);
  return { client: -1, kind: 'create', id, value, begin, end: performance.now(), outcome: 'ok', answer: 201 };
};

/** Returns the tasks with ids after `id`. All instances must list the same tasks. */
const readAfter = async (id: number, { all }: Instances): Promise<FinalTask[]> => {
  const lists = await Promise.all(all.map(({ url }) => readList(url, id)));
  for (const list of lists) assert.deepEqual(list, lists[0]);
  return lists[0] ?? [];
};

const readList = async (url: string, after: number): Promise<FinalTask[]> => {
  const { request, close } = createClient(url);
  const path = `/api/tasks?limit=${Number.MAX_SAFE_INTEGER}&after=${after}`;
  type List = { data: { Id: number; Title: string; Description: string }[] };
  const { status, json, text } = await request<List>('GET', path).finally(close);
  assert.equal(status, 200, text);
  return json.data.map(({ Id, Title, Description }) => ({ id: Id, title: Title, value: Description }));
};

/** Converts the final list to one read of each task in the history. */
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

/**
 * Prints a verdict in one line. Asserts that nothing is lost, duplicated, missing or out of order, and that nothing was
 * refused unless the fault lasts longer than requests may wait.
 */
export const assertSound = (t: TestContext, what: string, verdict: Verdict, { isLong = false } = {}): void => {
  t.diagnostic(`${what}: ${summarize(verdict)}`);
  const { lost, duplicated, gaps, wrong, inexplicable } = verdict;
  assert.deepEqual({ lost, duplicated, gaps, wrong }, { lost: [], duplicated: [], gaps: [], wrong: [] });
  assert.equal(inexplicable.length, 0, inexplicable.slice(0, 2).map(print).join('\n\n'));
  if (!isLong) assert.equal(verdict.refused, 0, verdict.answers);
  assert.ok(verdict.slowest <= longestRequestMs, `the slowest request took ${verdict.slowest} ms`);
};

/** Returns the figures of a verdict. */
export const summarize = (verdict: Verdict): string =>
  `${verdict.operations} operations, ${verdict.acknowledged} acknowledged, ${verdict.unknown} unknown, ` +
  `${verdict.refused} refused, ` +
  `${verdict.lost.length} lost, ${verdict.duplicated.length} duplicated, ${verdict.gaps.length} gaps, ` +
  `${verdict.inexplicable.length} not linearizable, slowest ${(verdict.slowest / 1000).toFixed(2)} s; ${verdict.answers}`;
