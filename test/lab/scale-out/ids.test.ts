import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../support/random.ts';
import type { FinalTask, Operation, Outcome } from './support/history.ts';
import { checkIds } from './support/ids.ts';

const none = { lost: [], duplicated: [], gaps: [], wrong: [] };

const create = (id: number, outcome: Outcome = 'ok'): Operation => ({
  client: 0,
  kind: 'create',
  value: `t${id}`,
  begin: 0,
  end: 1,
  answer: '',
  id: outcome === 'ok' ? id : undefined,
  outcome,
});

const toTask = (id: number, title = `t${id}`): FinalTask => ({ id, title, value: title });

interface Run {
  operations: Operation[];
  list: FinalTask[];
}

/**
 * Tasks, some of which were removed, and creations without a response. The last task and the task at `place` are
 * listed.
 */
const runs = fc
  .record({ kinds: fc.array(fc.constantFrom('ok', 'ok', 'unknown', 'removed'), { maxLength: 20 }), place: fc.nat() })
  .map(({ kinds, place }): Run & { kept: number } => {
    const kept = 1 + (place % (kinds.length + 1));
    const all = [...kinds, 'ok'].map((kind, index) => ({ id: index + 1, kind: index + 1 === kept ? 'ok' : kind }));
    const removed = all.filter(({ kind }) => kind === 'removed');
    return {
      operations: [
        ...all.map(({ id, kind }) => create(id, kind === 'unknown' ? 'unknown' : 'ok')),
        ...removed.map(({ id }): Operation => ({ ...create(id), kind: 'remove', value: undefined })),
      ],
      list: all.filter(({ kind }) => kind !== 'removed').map(({ id }) => toTask(id)),
      kept,
    };
  });

test('a list has no faults if it contains every task that was created and not removed', () => {
  fc.assert(fc.property(runs, ({ operations, list }) => assert.deepEqual(checkIds(operations, list), none)));
});

test('an acknowledged task that is missing is lost', () => {
  const property = fc.property(runs, ({ operations, list, kept }) => {
    const found = checkIds(
      operations,
      list.filter(({ id }) => id !== kept),
    );
    assert.deepEqual(found, { ...none, lost: [`${kept} t${kept}`] });
  });
  fc.assert(property);
});

test('a task that is listed under two ids is a duplicate', () => {
  const property = fc.property(runs, ({ operations, list, kept }) => {
    const { duplicated } = checkIds(operations, [...list, toTask(operations.length + 1, `t${kept}`)]);
    assert.deepEqual(duplicated, [`t${kept}`]);
  });
  fc.assert(property);
});

test('an id that two creations got is a duplicate', () => {
  const { duplicated, lost } = checkIds([create(1), { ...create(2), id: 1 }], [toTask(1)]);
  assert.deepEqual([duplicated, lost], [['1'], ['1 t2']]);
});

test('an id that no task has or had is a gap', () => {
  const property = fc.property(runs, ({ operations, list }) => {
    const last = (list.at(-1)?.id ?? 0) + 2;
    const { gaps } = checkIds([...operations, create(last)], [...list, toTask(last)]);
    assert.deepEqual(gaps, [last - 1]);
  });
  fc.assert(property);
});

test('a task is wrong if its creation was refused as not applied, or if nobody created it', () => {
  const { wrong } = checkIds([create(1, 'not-applied')], [toTask(1), toTask(2)]);
  assert.deepEqual(wrong, ['1 t1', '2 t2']);
});
