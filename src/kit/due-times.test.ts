import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DueTimes } from './due-times.ts';

const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), at: fc.nat(50) }) },
    {
      weight: 1,
      arbitrary: fc.record({ id: fc.constantFrom('a', 'b', 'c'), at: fc.constant(Number.POSITIVE_INFINITY) }),
    },
    { weight: 1, arbitrary: fc.record({ take: fc.nat(50) }) },
  ),
  { maxLength: 200 },
);

test('after any changes, each id comes due once, at its last time, in the order of times', () => {
  fc.assert(
    fc.property(commands, (all) => {
      const due = new DueTimes();
      const expected = new Map<string, number>();
      for (const command of all) {
        if ('take' in command) {
          const taken = due.take(command.take);
          const wanted = [...expected].filter(([, at]) => at <= command.take);
          assert.deepEqual(taken.toSorted(), wanted.map(([id]) => id).toSorted());
          const times = taken.map((id) => expected.get(id) ?? 0);
          assert.deepEqual(
            times,
            times.toSorted((a, b) => a - b),
          );
          for (const id of taken) expected.delete(id);
        } else {
          due.set(command.id, command.at);
          if (Number.isFinite(command.at)) expected.set(command.id, command.at);
          else expected.delete(command.id);
        }
        const first = expected.size === 0 ? undefined : Math.min(...expected.values());
        assert.equal(due.first, first);
        assert.equal(due.list(10).length, expected.size);
      }
    }),
  );
});

test('a time that is set repeatedly takes no additional memory', () => {
  const due = new DueTimes();
  for (let at = 100_000; at > 0; at -= 1) due.set('a', at);
  due.set('b', 5);
  assert.deepEqual(due.take(10), ['a', 'b']);
  assert.equal(due.first, undefined);
});
