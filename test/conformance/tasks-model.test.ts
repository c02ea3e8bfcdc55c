import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount } from '../support/long.ts';
import { fc } from '../support/random.ts';
import { createScope } from '../support/scope.ts';
import { createTaskModel } from '../support/task-model.ts';
import { priorities, startTasks, statuses } from './support/tasks.ts';

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

const operation = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), fields: fc.record(fields, { requiredKeys: ['Title'] }) }),
  fc.record({ kind: fc.constant('update' as const), id, fields: fc.record(fields, optional) }),
  fc.record({ kind: fc.constant('delete' as const), id }),
  fc.record({ kind: fc.constant('read' as const), id }),
  fc.record({ kind: fc.constant('list' as const), ...filters }, { requiredKeys: ['kind'] }),
);

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

test('any sequence of creations, updates, deletions and listings matches a plain list', async () => {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 100, size: 'max' }), compare);
  await fc.assert(property, { numRuns: amount(10, 20) });
});

const compare = async (operations: Operation[]): Promise<void> => {
  const scope = createScope();
  try {
    const app = await startTasks(scope);
    const expect = createExpectations();
    for (const step of operations) {
      const { method, path, body } = toRequest(step);
      const { status, text } = await app.request(method, path, { body });
      assert.deepEqual([status, status === 404 ? undefined : withoutTimes(text)], expect(step));
    }
  } finally {
    await scope.end();
  }
};

/** Creates the model that predicts the status and body of each response. Every time is `now`. */
const createExpectations = () => {
  const tasks = createTaskModel(() => 'now');
  const found = (text: string | undefined) => [text === undefined ? 404 : 200, text];
  return (step: Operation): unknown[] => {
    switch (step.kind) {
      case 'create':
        return [201, tasks.create(step.fields)];
      case 'update':
        return found(tasks.update(step.id, withoutEmpty(step.fields)));
      case 'delete': {
        const remaining = tasks.remove(step.id);
        const deleted = { message: `Task with Id=${step.id} deleted`, remaining };
        return found(remaining === undefined ? undefined : JSON.stringify(deleted));
      }
      case 'read':
        return found(tasks.find(step.id));
      default: {
        const { kind: _, limit = 50, ...filter } = step;
        const { total, count, text } = tasks.list(filter, limit);
        return [200, `{"total":${total},"count":${count},"limit":${limit},"data":[${text}]}`];
      }
    }
  };
};

/** Removes empty fields. They keep their values in a PUT. */
const withoutEmpty = <T extends object>(changes: T): T =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== '')) as T;

const withoutTimes = (text: string): string => text.replace(/"(CreatedAt|UpdatedAt)":"[^"]*"/g, '"$1":"now"');

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
