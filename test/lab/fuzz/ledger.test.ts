import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange, Ledger } from './support/ledger.ts';
import { createAlertLedger, createItemLedger, createSimpleTaskLedger } from './support/list-ledgers.ts';
import { createTaskLedger } from './support/task-ledger.ts';

type Step = [name: string, status: number, json: unknown, more?: Partial<Exchange>];

const write = (ledger: Ledger, [name, status, json, more]: Step): void =>
  ledger({ name, status, json, id: '', query: new URLSearchParams(), sent: {}, ...more });

/** Asserts that the ledger accepts the first exchanges, and rejects each contradiction on its own. */
const assertNoticed = (create: () => Ledger, before: Step[], contradictions: [Step, RegExp][]): void => {
  for (const [said, why] of contradictions) {
    const ledger = create();
    for (const one of before) write(ledger, one);
    assert.throws(() => write(ledger, said), why, JSON.stringify(said));
  }
};

const createTask = (Id: number, Title = 'a') => ({ Id, Title, Status: 'Pending' });
const query = (text: string) => ({ query: new URLSearchParams(text) });

test('the ledger detects tasks that contradict earlier writes', () => {
  const [one, two] = [createTask(1), createTask(2)];
  const before: Step[] = [
    ['POST /api/tasks', 201, one, { sent: { Title: 'a' } }],
    ['POST /api/tasks', 201, two],
    ['GET /api/tasks', 200, { total: 2, count: 2, data: [one, two] }],
    ['GET /api/tasks', 200, { total: 2, count: 1, data: [one] }, query('limit=1')],
    ['PUT /api/tasks/{id}', 200, createTask(2, 'b'), { id: '2', sent: { Title: 'b' } }],
    ['DELETE /api/tasks/{id}', 200, { remaining: 1 }, { id: '1' }],
    ['GET /api/tasks/{id}', 404, {}, { id: '1' }],
    ['GET /api/tasks/{id}', 404, {}, { id: '02' }],
  ];
  assertNoticed(createTaskLedger, before, [
    [['POST /api/tasks', 201, createTask(1)], /new task has the id 1/],
    [['POST /api/tasks', 201, createTask(4)], /new task has the id 4/],
    [['POST /api/tasks', 201, createTask(3), { sent: { Title: 'b' } }], /not what was sent/],
    [['PUT /api/tasks/{id}', 200, createTask(2), { id: '2' }], /task 2 is not what was sent/],
    [['GET /api/tasks/{id}', 200, two, { id: '2' }], /task 2 is not what was written/],
    [['GET /api/tasks/{id}', 404, {}, { id: '2' }], /task 2 is there, and not found/],
    [['DELETE /api/tasks/{id}', 200, { remaining: 0 }, { id: '1' }], /which was not there/],
    [['DELETE /api/tasks/{id}', 200, { remaining: 1 }, { id: '2' }], /miscounted/],
    [['GET /api/tasks', 200, { total: 1, count: 2, data: [createTask(2, 'b')] }], /number of tasks in the list/],
    [['GET /api/tasks', 200, { total: 1, count: 1, data: [two] }], /in the list is not what was written/],
    [['GET /api/tasks', 200, { total: 2, count: 1, data: [createTask(2, 'b')] }], /reports 2 tasks/],
  ]);
});

test('the ledger detects simple tasks that contradict earlier requests', () => {
  const before: Step[] = [
    ['POST /api/tasks', 201, {}, { sent: { title: 'a' } }],
    ['GET /api/tasks', 200, [{ id: 1, title: 'a' }]],
    ['GET /api/tasks/{id}', 200, { id: 1, title: 'a' }, { id: '1' }],
  ];
  assertNoticed(createSimpleTaskLedger, before, [
    [['GET /api/tasks', 200, []], /0 tasks, not 1/],
    [['GET /api/tasks', 200, [{ id: 2, title: 'a' }]], /not what was sent/],
    [['GET /api/tasks/{id}', 200, { id: 1, title: 'b' }, { id: '1' }], /not what was sent/],
  ]);
});

test('the ledger detects items that contradict earlier requests', () => {
  const before: Step[] = [
    ['POST /api/items', 201, { id: 7, name: 'a' }, { sent: { name: 'a' } }],
    ['GET /api/items', 200, { data: [{ id: 7, name: 'a' }], total: 1 }],
    ['GET /api/items', 200, { data: [], total: 1 }, query('page=2')],
  ];
  assertNoticed(createItemLedger, before, [
    [['POST /api/items', 201, { id: 7, name: 'a' }, { sent: { name: 'a' } }], /given out twice/],
    [['POST /api/items', 201, { id: 8, name: 'b' }, { sent: { name: 'a' } }], /not what was sent/],
    [['GET /api/items', 200, { data: [], total: 0 }], /total is 0, not 1/],
    [['GET /api/items', 200, { data: [], total: 1 }], /0 items on a page of 1/],
    [['GET /api/items', 200, { data: [{ id: 7, name: 'b' }], total: 1 }], /not what was sent/],
  ]);
});

test('the ledger detects alerts that contradict earlier acknowledgements', () => {
  const before: Step[] = [
    ['POST /api/alert', 200, { id: 'x' }, { sent: { message: 'a' } }],
    ['POST /api/alert', 200, { id: 'y' }, { sent: { message: 'b' } }],
    ['GET /api/alerts', 200, { count: 2, data: [{ message: 'a' }, { message: 'b' }] }],
    ['POST /api/alert/plain-text', 200, { id: 'z' }],
    ['GET /api/alerts', 200, { count: 3, data: [{ message: 'a' }, { message: 'b' }, { message: 'c' }] }],
    ['GET /api/alerts', 200, { count: 1, data: [{ message: 'c' }] }, query('count=1')],
    ['GET /api/alerts', 200, { count: 0, data: [] }, query('level=x')],
    ['GET /api/alerts', 200, { count: 0, data: [] }, query('count=0')],
  ];
  assertNoticed(createAlertLedger, before, [
    [['POST /api/alert', 200, { id: 'x' }], /given out twice/],
    [['GET /api/alerts', 200, { count: 2, data: [] }], /number of alerts in the list/],
    [['GET /api/alerts', 200, { count: 1, data: [{ message: 'b' }] }], /1 alerts of 3 where 10/],
    [
      ['GET /api/alerts', 200, { count: 3, data: [{ message: 'b' }, { message: 'a' }, { message: 'c' }] }],
      /not what was sent/,
    ],
    [['GET /api/alerts', 200, { count: 1, data: [{ message: 'b' }] }, query('count=0&level=x')], /more alerts/],
  ]);
});
