import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, fc } from '../../support/random.ts';
import type { Kind, Operation } from './support/history.ts';
import { isLinearizable } from './support/linearizability.ts';

interface Shape {
  seed: number;
  length: number;
  /**
   * Maximum time between the start or end of an operation and the moment it takes effect. One operation takes effect in
   * each unit of time.
   */
  overlap: number;
  /** Share of changes with an unknown outcome. Half of these changes never happen. */
  unknown: number;
}

/** Creates the history of one task. Its operations take effect one after another. */
const createHistory = ({ seed, length, overlap, unknown }: Shape): Operation[] => {
  const random = createRandom(seed);
  let state: string | undefined;
  return Array.from({ length }, (_, at) => {
    const kind: Kind = at === 0 ? 'create' : random.pick(['read', 'read', 'read', 'update', 'update', 'remove']);
    const isKnown = kind === 'read' || random.next() >= unknown;
    const written = kind === 'create' || kind === 'update' ? `v${at}` : undefined;
    const expected = kind === 'update' && random.next() < 0.4 ? random.pick([state ?? 'v0', 'v0']) : undefined;
    const isAbsent = kind !== 'create' && state === undefined;
    const isConflict = !isAbsent && expected !== undefined && expected !== state;
    const value = kind === 'read' ? state : written;
    const happens = isKnown || random.next() < 0.5;
    if (happens && kind !== 'read' && !isAbsent && !isConflict) state = written;
    const answer = isAbsent ? 'absent' : isConflict ? 'conflict' : 'ok';
    return {
      client: at,
      kind,
      id: 1,
      value,
      answer: '',
      outcome: isKnown ? answer : 'unknown',
      ...(expected !== undefined && { expected }),
      begin: at - random.next() * overlap,
      end: at + random.next() * overlap,
    };
  });
};

const shape = { seed: fc.integer(), length: fc.integer({ min: 1, max: 40 }) };

test('a history is explained if its operations take effect one after the other', () => {
  const shapes = fc.record({ ...shape, overlap: fc.nat(6), unknown: fc.constantFrom(0, 0.2) });
  fc.assert(
    fc.property(shapes, (one) => isLinearizable(createHistory(one))),
    { numRuns: 500 },
  );
});

/** Histories whose order is known, each with a read that finds a task. */
const certain = fc
  .record({ ...shape, overlap: fc.constant(0), unknown: fc.constant(0), place: fc.nat() })
  .map(({ place, ...one }) => {
    const history = createHistory(one);
    const reads = history.filter(({ kind, outcome }) => kind === 'read' && outcome === 'ok');
    return { history, read: reads[place % reads.length] };
  })
  .filter(({ read }) => read !== undefined);

test('a history is not explained if a read has an earlier value', () => {
  const property = fc.property(certain, fc.nat(), ({ history, read }, place) => {
    const earlier = history.filter(
      ({ kind, value, end }) =>
        (kind === 'update' || kind === 'create') && end < (read?.end ?? 0) && value !== read?.value,
    );
    fc.pre(earlier.length > 0);
    const stale = history.map((one) =>
      one === read ? { ...one, value: earlier[place % earlier.length]?.value } : one,
    );
    return !isLinearizable(stale);
  });
  fc.assert(property, { numRuns: 200 });
});

test('a history is not explained if the change that wrote the value of a read is lost', () => {
  const property = fc.property(certain, ({ history, read }) => {
    const without = history.filter(({ kind, value }) => kind === 'read' || value !== read?.value);
    return !isLinearizable(without);
  });
  fc.assert(property, { numRuns: 200 });
});

test('a history is not explained if a read misses a task', () => {
  const property = fc.property(certain, ({ history, read }) => {
    const missing = history.map((one) =>
      one === read ? { ...one, value: undefined, outcome: 'absent' as const } : one,
    );
    return !isLinearizable(missing);
  });
  fc.assert(property, { numRuns: 200 });
});

type Step = [begin: number, end: number, operation: Partial<Operation>];

const toOperations = (steps: Step[]): Operation[] =>
  steps.map(([begin, end, operation]) => ({
    client: 0,
    kind: 'read',
    id: 1,
    value: undefined,
    outcome: 'ok',
    answer: '',
    ...operation,
    begin,
    end,
  }));

const created: Step = [0, 1, { kind: 'create', value: 'a' }];
const unanswered: Step = [2, 3, { kind: 'update', value: 'b', outcome: 'unknown' }];

const examples: [what: string, isExplained: boolean, steps: Step[]][] = [
  ['a change without an answer never happens', true, [created, unanswered, [9, 10, { value: 'a' }]]],
  [
    'a change without an answer happens later',
    true,
    [created, unanswered, [4, 5, { value: 'a' }], [9, 10, { value: 'b' }]],
  ],
  [
    'a change without an answer happens twice',
    false,
    [
      ...[created, unanswered, [4, 5, { value: 'b' }] as Step],
      [6, 7, { kind: 'update', value: 'c' }],
      [8, 9, { value: 'b' }],
    ],
  ],
  [
    'a value is read before the change begins',
    false,
    [created, [2, 3, { value: 'b' }], [4, 5, { kind: 'update', value: 'b' }]],
  ],
  [
    'a conditional change succeeds although the value is another',
    false,
    [created, [2, 3, { kind: 'update', value: 'b' }], [4, 5, { kind: 'update', value: 'c', expected: 'a' }]],
  ],
  [
    'a conditional change is refused although the value is the expected one',
    false,
    [created, [4, 5, { kind: 'update', value: 'c', expected: 'a', outcome: 'conflict' }]],
  ],
  [
    'two conditional changes of the same value succeed',
    false,
    [
      created,
      [2, 9, { kind: 'update', value: 'b', expected: 'a' }],
      [2, 9, { kind: 'update', value: 'c', expected: 'a' }],
    ],
  ],
  ['a task is there after its removal', false, [created, [2, 3, { kind: 'remove' }], [4, 5, { value: 'a' }]]],
];

for (const [what, isExplained, steps] of examples) {
  test(`a history in which ${what} is ${isExplained ? '' : 'not '}explained`, () => {
    assert.equal(isLinearizable(toOperations(steps)), isExplained);
  });
}
