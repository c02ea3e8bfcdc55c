import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, type JsonResponse } from '../../../support/client.ts';
import type { Random } from '../../../support/random.ts';
import { atEnd, type Scope } from '../../../support/scope.ts';
import type { Operation, Outcome } from './history.ts';

/** Milliseconds between attempts to send a creation with its Idempotency-Key. */
const retryMs = 50;
/**
 * Maximum wait in milliseconds before each request of every third client, so that some requests arrive while others
 * wait.
 */
const slowMs = 1000;
/**
 * Number of newest tasks that clients read and change, small enough that several clients use the same task at the same
 * time.
 */
const shared = 60;

interface Options {
  /** Base URLs, used in turn. */
  urls: readonly string[];
  random: Random;
  /** Text that distinguishes the values of this workload from other values in the store. */
  tag: string;
  clients?: number;
}

export interface Workload {
  operations: Operation[];
  /** Number of answers by status (with the reason for a 503) or by connection failure. */
  answers: Map<string, number>;
  /** Answers that no fault explains. */
  wrong: string[];
  /** Returns the duration of the slowest request in milliseconds. */
  slowest(): number;
  /** Returns the number of acknowledged operations. */
  acknowledged(): number;
  /** Stops all clients after their pending responses. */
  stop(): Promise<void>;
}

interface Task {
  Id: number;
  Title: string;
  Description: string;
}

type Answer = Partial<JsonResponse<Partial<Task> & { error?: string }>> & { failure?: string };

/** Starts clients that create, read, change and remove tasks, one request at a time, until they are stopped. */
export const startWorkload = (t: Scope, { urls, random, tag, clients = 24 }: Options): Workload => {
  const operations: Operation[] = [];
  const answers = new Map<string, number>();
  const wrong: string[] = [];
  const recent: { id: number; value?: string; etag?: string }[] = [];
  const connections: Client[] = [];
  let slowest = 0;
  let acknowledged = 0;
  let isStopped = false;

  const run = async (client: number): Promise<void> => {
    const own = urls.map((url) => createClient(url, { connections: 1 }));
    connections.push(...own);
    let turn = client;
    let count = 0;
    const toValue = (): string => `${tag}-${client}-${count++}`;
    const send = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
      const begin = performance.now();
      const connection = own[turn++ % own.length];
      assert.ok(connection);
      const answer: Answer = await connection
        .request<Partial<Task>>(method, path, { body, headers })
        .catch((error: Error) => ({ failure: toFailure(error) }));
      slowest = Math.max(slowest, performance.now() - begin);
      const what = toName(answer);
      answers.set(what, (answers.get(what) ?? 0) + 1);
      const isMissing = answer.status === 503 && answer.headers?.['retry-after'] === undefined;
      // HAProxy's own answers are not JSON.
      if (isMissing && answer.json !== undefined) wrong.push(`503 without Retry-After: ${answer.text}`);
      return answer;
    };
    /** Sends a request until no retry is needed, and records the attempts as a single operation. */
    const perform = async (
      operation: Pick<Operation, 'kind' | 'id' | 'value'> & { expected?: string },
      request: Parameters<typeof send>,
      isRepeatable = false,
    ): Promise<{ record: Operation; answer: Answer }> => {
      const begin = performance.now();
      let answer = await send(...request);
      let outcome = toOutcome(answer);
      let mayBeApplied = outcome === 'unknown';
      while (isRepeatable && outcome !== 'ok' && !isStopped) {
        await setTimeout(retryMs);
        answer = await send(...request);
        outcome = toOutcome(answer);
        mayBeApplied ||= outcome === 'unknown';
      }
      if (outcome === 'not-applied' && mayBeApplied) outcome = 'unknown';
      const said = answer.status ?? answer.failure ?? '';
      const record = { client, ...operation, begin, end: performance.now(), outcome, answer: said };
      operations.push(record);
      if (outcome === 'ok') acknowledged += 1;
      else if (isUnexpected(answer)) wrong.push(`${operation.kind} ${operation.id}: ${said} ${answer.text}`);
      return { record, answer };
    };

    const create = async (): Promise<void> => {
      const value = toValue();
      const key = random.next() < 0.5 ? { 'idempotency-key': value } : undefined;
      const body = { Title: value, Description: value };
      const operation = { kind: 'create', id: undefined, value } as const;
      const { record, answer } = await perform(operation, ['POST', '/api/tasks', key ?? {}, body], key !== undefined);
      if (record.outcome !== 'ok') return;
      const { Id, Title } = answer.json ?? {};
      record.id = Id;
      if (Title !== value || Id === undefined) wrong.push(`create ${value}: ${answer.text}`);
      else recent.push({ id: Id });
      if (recent.length > shared) recent.shift();
    };
    const read = async (task: (typeof recent)[number]): Promise<void> => {
      const path = `/api/tasks/${task.id}`;
      const { record, answer } = await perform({ kind: 'read', id: task.id, value: undefined }, ['GET', path, {}]);
      if (record.outcome !== 'ok') return;
      const { Description, Id } = answer.json ?? {};
      record.value = Description;
      if (Id !== task.id || Description === undefined) wrong.push(`read ${task.id}: ${answer.text}`);
      const etag = answer.headers?.['etag'];
      if (etag !== undefined && Description !== undefined) Object.assign(task, { value: Description, etag });
    };
    const change = async (task: (typeof recent)[number], kind: 'update' | 'remove'): Promise<void> => {
      const { id, value: expected, etag } = task;
      const isConditional = etag !== undefined && expected !== undefined && random.next() < 0.4;
      const headers: Record<string, string> = isConditional ? { 'if-match': etag } : {};
      const value = kind === 'update' ? toValue() : undefined;
      const operation = { kind, id, value, ...(isConditional && { expected }) };
      const method = kind === 'update' ? 'PUT' : 'DELETE';
      const body = value === undefined ? undefined : { Description: value };
      const { record, answer } = await perform(operation, [method, `/api/tasks/${id}`, headers, body]);
      const isOther = kind === 'update' && record.outcome === 'ok' && answer.json?.Description !== value;
      if (isOther) wrong.push(`update ${id} ${value}: ${answer.text}`);
    };

    while (!isStopped) {
      if (client % 3 === 0) await setTimeout(random.below(slowMs));
      const task = recent[random.below(recent.length)];
      const choice = random.next();
      if (!task || choice < 0.25) await create();
      else if (choice < 0.65) await read(task);
      else await change(task, choice < 0.95 ? 'update' : 'remove');
      if (operations.at(-1)?.outcome === 'unknown' || operations.at(-1)?.outcome === 'not-applied') {
        await setTimeout(retryMs);
      }
    }
  };
  const done = Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  const stop = async (): Promise<void> => {
    isStopped = true;
    await done;
    for (const { close } of connections.splice(0)) close();
  };
  atEnd(t, stop);
  return { operations, answers, wrong, slowest: () => slowest, acknowledged: () => acknowledged, stop };
};

/** Returns the status (with the reason for a 503) or the connection failure. */
const toName = ({ status, json, failure = '' }: Answer): string =>
  status === 503 ? `503 ${json?.error ?? 'of HAProxy'}` : String(status ?? failure);

const toFailure = (error: NodeJS.ErrnoException): string =>
  error.code ?? (/without a response/.test(error.message) ? 'closed' : error.message);

const toOutcome = ({ status, json }: Answer): Outcome => {
  if (status === 200 || status === 201) return 'ok';
  if (status === 404) return 'absent';
  if (status === 412) return 'conflict';
  // Any other 4xx changes nothing. 409 means that the first request with the key is still running.
  if (status !== undefined && status < 500) return 'not-applied';
  return status === 503 && json?.error?.includes('was not applied') ? 'not-applied' : 'unknown';
};

const isUnexpected = ({ status = 503 }: Answer): boolean => ![404, 409, 412, 502, 503, 504].includes(status);
