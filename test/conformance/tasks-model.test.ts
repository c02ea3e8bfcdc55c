import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createModel, type ExpectedTask, type Operation } from './support/task-model.ts';
import { priorities, startTasks, statuses, type Task, type TaskList } from './support/tasks.ts';

const optional = { requiredKeys: [] };
const id = fc.integer({ min: 1, max: 12 });
const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => /\S/.test(text));
const fields = {
  Title: title,
  Description: fc.string({ unit: 'binary' }),
  Priority: fc.constantFrom(...priorities),
  Status: fc.constantFrom(...statuses),
};
const filters = {
  status: fc.constantFrom(...statuses),
  priority: fc.constantFrom(...priorities),
  limit: fc.nat(6),
};

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), fields: fc.record(fields, { requiredKeys: ['Title'] }) }),
  fc.record({ kind: fc.constant('update' as const), id, fields: fc.record(fields, optional) }),
  fc.record({ kind: fc.constant('delete' as const), id }),
  fc.record({ kind: fc.constant('read' as const), id }),
  fc.record({ kind: fc.constant('list' as const), ...filters }, { requiredKeys: ['kind'] }),
);

test('T46 any sequence of creations, updates, deletions and listings does what a plain list would do', async (t) => {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 40 }), (operations) =>
    compare(t, operations),
  );
  await fc.assert(property, { numRuns: 60 });
});

const compare = async (t: TestContext, operations: Operation[]): Promise<void> => {
  const app = await startTasks(t);
  const model = createModel();
  for (const step of operations) {
    const { method, path, body } = toRequest(step);
    const expected = model(step);
    const { status, json } = await app.request(method, path, body === undefined ? {} : { body });
    assert.deepEqual({ status, body: toExpectedBody(step, status, json) }, { body: undefined, ...expected });
  }
  await app.close();
};

const toRequest = (step: Operation): { method: string; path: string; body?: object } => {
  switch (step.kind) {
    case 'create':
      return { method: 'POST', path: '/api/tasks', body: step.fields };
    case 'update':
      return { method: 'PUT', path: `/api/tasks/${step.id}`, body: step.fields };
    case 'delete':
      return { method: 'DELETE', path: `/api/tasks/${step.id}` };
    case 'read':
      return { method: 'GET', path: `/api/tasks/${step.id}` };
    default: {
      const { kind: _, ...filter } = step;
      const query = Object.entries(filter).map(([name, value]) => `${name}=${value}`);
      return { method: 'GET', path: `/api/tasks?${query.join('&')}` };
    }
  }
};

/** The part of an answer that the model foresees: all but the times, and the texts of refusals. */
const toExpectedBody = ({ kind }: Operation, status: number, json: unknown): unknown => {
  if (status === 404) return undefined;
  if (kind === 'delete') return (json as { remaining: number }).remaining;
  if (kind !== 'list') return toExpected(json as Task);
  const list = json as TaskList;
  return { ...list, data: list.data.map(toExpected) };
};

const toExpected = ({ CreatedAt: _, UpdatedAt, ...task }: Task): ExpectedTask => ({
  ...task,
  updated: UpdatedAt !== undefined,
});
