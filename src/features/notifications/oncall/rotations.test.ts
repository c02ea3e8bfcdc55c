import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../../test/support/long.ts';
import type { DestinationSettings } from '../settings.ts';
import { toRotation } from './create-rotation.ts';
import type { AppliedOverride, Rotation } from './rotation.ts';
import { findRotationProblems } from './rotation-problems.ts';
import { Rotations } from './rotations.ts';

const at = (time: string): number => Date.parse(time);
const hour = 3_600_000;
const weekly = { handover: '0 9 * * 1', timeZone: 'Europe/Berlin' };

const create = (members: string[], overrides: AppliedOverride[] = []): Rotation =>
  toRotation({ name: 'oncall', members, ...weekly }).with(overrides);

const override = (id: string, member: string, startsAt: string, endsAt: string): AppliedOverride => ({
  id,
  rotation: 'oncall',
  member,
  startsAt: at(startsAt),
  endsAt: at(endsAt),
});

const describe = (rotation: Rotation, from: string, to: string): string[] =>
  rotation
    .listShifts(at(from), at(to), 100)
    .map(({ member, startsAt, override: id }) =>
      `${new Date(startsAt).toISOString().slice(0, 16)} ${member} ${id ?? ''}`.trim(),
    );

test('the first member is on call from the first handover on, and each handover puts the next member on call', () => {
  const rotation = create(['anna', 'ben', 'carl']);
  assert.equal(rotation.memberAt(at('2026-01-05T08:00:00Z')), 'anna');
  assert.equal(rotation.memberAt(at('2026-01-05T07:59:59Z')), 'carl');
  assert.deepEqual(describe(rotation, '2026-03-17T00:00:00Z', '2026-04-01T00:00:00Z'), [
    '2026-03-16T08:00 ben',
    '2026-03-23T08:00 carl',
    '2026-03-30T07:00 anna',
  ]);
});

test('startsAt sets the beginning of the shifts, as a date in the time zone or as a time', () => {
  for (const [startsAt, first] of [
    ['2026-01-13', '2026-01-19T08:00:00Z'],
    ['2026-01-12', '2026-01-12T08:00:00Z'],
    ['2026-01-12T09:00:00+01:00', '2026-01-12T08:00:00Z'],
    ['2036-01-01', '2036-01-07T08:00:00Z'],
  ] as const) {
    const rotation = toRotation({ name: 'oncall', members: ['anna', 'ben', 'carl'], ...weekly, startsAt });
    assert.deepEqual([rotation.memberAt(at(first)), rotation.memberAt(at(first) - 1)], ['anna', 'carl'], startsAt);
  }
});

test('an override replaces the member on call, even across a handover, and the newest of two counts', () => {
  const rotation = create(
    ['anna', 'ben', 'carl'],
    [
      override('1', 'carl', '2026-03-18T12:00:00Z', '2026-03-24T12:00:00Z'),
      override('2', 'anna', '2026-03-19T12:00:00Z', '2026-03-20T12:00:00Z'),
    ],
  );
  assert.deepEqual(describe(rotation, '2026-03-17T00:00:00Z', '2026-03-31T00:00:00Z'), [
    '2026-03-16T08:00 ben',
    '2026-03-18T12:00 carl 1',
    '2026-03-19T12:00 anna 2',
    '2026-03-20T12:00 carl 1',
    '2026-03-24T12:00 carl',
    '2026-03-30T07:00 anna',
  ]);
  assert.equal(rotation.nextShiftAfter(at('2026-03-21T00:00:00Z'))?.member, 'anna');
  assert.equal(rotation.nextChangeAfter(at('2026-03-21T00:00:00Z')), at('2026-03-24T12:00:00Z'));
});

test('an override of a year does not hide the shift after hourly handovers', () => {
  const planned = toRotation({ name: 'oncall', members: ['anna', 'ben'], handover: '0 * * * *', timeZone: 'UTC' });
  const rotation = planned.with([override('1', 'ben', '2026-02-01T00:30:00Z', '2027-02-01T00:30:00Z')]);
  assert.deepEqual(rotation.shiftAt(at('2026-06-01T00:00:00Z')), {
    member: 'ben',
    startsAt: at('2026-02-01T00:30:00Z'),
    endsAt: at('2027-02-01T00:30:00Z'),
    layer: undefined,
    override: '1',
  });
});

test('a rotation with one member has no next member', () => {
  const rotation = create(['anna', 'anna']);
  assert.equal(rotation.shiftAt(at('2026-03-18T12:00:00Z')).endsAt, Number.POSITIVE_INFINITY);
  assert.equal(rotation.nextShiftAfter(at('2026-03-18T12:00:00Z')), undefined);
  assert.equal(rotation.listShifts(at('2026-03-17T00:00:00Z'), at('2026-03-31T00:00:00Z'), 100).length, 1);
});

test('a destination is notified while on call in one of its rotations, and always without a rotation', () => {
  let planned = [
    toRotation({ name: 'first', members: ['anna', 'ben'], ...weekly }),
    toRotation({ name: 'second', members: ['ben', 'anna', 'carl'], ...weekly }),
  ];
  let overrides: AppliedOverride[] = [];
  const rotations = new Rotations({
    listRotations: () => planned,
    listOverrides: () => overrides,
    isUser: () => true,
  });
  const first = at('2026-01-05T08:00:00Z');
  const listOnCall = (time: number) => ['anna', 'ben', 'carl', 'boss'].filter((name) => rotations.isOnCall(name, time));
  assert.deepEqual(listOnCall(first), ['anna', 'ben', 'boss']);
  assert.deepEqual(rotations.onCallAt('second', first), ['destination:ben']);
  assert.deepEqual(rotations.onCallAt('third', first), []);
  assert.equal(rotations.nextHandoverAfter(first), at('2026-01-12T08:00:00Z'));
  assert.deepEqual(listOnCall(at('2026-01-12T08:00:00Z')), ['anna', 'ben', 'boss']);
  assert.deepEqual(listOnCall(at('2026-01-19T08:00:00Z')), ['anna', 'carl', 'boss']);
  let changes = 0;
  rotations.onChanged(() => {
    changes += 1;
  });
  overrides = [{ id: '1', rotation: 'first', member: 'carl', startsAt: first + hour, endsAt: first + 2 * hour }];
  rotations.refresh();
  assert.equal(rotations.nextHandoverAfter(first), first + hour);
  assert.deepEqual(listOnCall(first + hour), ['ben', 'carl', 'boss']);
  planned = [toRotation({ name: 'first', members: ['anna', 'ben'], ...weekly })];
  rotations.refresh();
  assert.deepEqual(listOnCall(first + hour), ['anna', 'carl', 'boss'], 'an override of a former member does nothing');
  assert.equal(changes, 2);
});

test('without rotations every destination is notified at any time', () => {
  const rotations = new Rotations({ listRotations: () => [], listOverrides: () => [], isUser: () => true });
  assert.equal(rotations.isOnCall('anna', 0), true);
  assert.equal(rotations.nextHandoverAfter(0), undefined);
});

test('problems of settings name the rotation and the remedy', () => {
  const destinations = [
    { name: 'anna', notify: 'incidents' },
    { name: 'log', notify: 'alerts' },
    { name: 'old' },
  ] as DestinationSettings[];
  const members = ['anna'];
  assert.deepEqual(
    findRotationProblems({
      destinations,
      rotations: [
        { name: 'a', members: ['anna', 'bob', 'log', 'old', 'bob'], ...weekly },
        { name: 'A', members, ...weekly },
        { name: 'b', members, handover: '0 9 * *' },
        { name: 'c', members, handover: '0 9 * * 1', timeZone: 'Mars' },
        { name: 'd', members, handover: '0 9 * * 1', startsAt: '2026-02-30' },
        { name: 'e', members, handover: '0 9 * * 1', startsAt: 'soon' },
      ],
    }),
    [
      'rotation "a": there is no destination "bob"; the settings define: anna, log, old',
      'rotation "a": member "log" is a destination that gets every alert: set notify of the destination to incidents',
      'rotation "a": member "old" is a destination that gets every alert: set notify of the destination to incidents',
      'rotation "A": is defined twice: rename one rotation',
      'rotation "b": handover must be a cron expression such as "0 9 * * 1": "0 9 * *" must have five fields: minute, hour, day, month, day of the week',
      'rotation "c": timeZone must be a name such as Europe/Berlin or UTC, not "Mars"',
      'rotation "d": startsAt must be a date or a time such as 2026-01-31T09:00:00Z, not "2026-02-30"',
      'rotation "e": startsAt must be a date or a time such as 2026-01-31T09:00:00Z, not "soon"',
    ],
  );
});

test('shifts have no gaps, and name the member on call at each hour', () => {
  const from = at('2026-03-20T00:00:00Z');
  const names = fc.constantFrom('anna', 'ben', 'carl');
  const changes = fc.record({ member: names, start: fc.nat(400), length: fc.integer({ min: 1, max: 200 }) });
  const model = fc.property(
    fc.array(names, { minLength: 1, maxLength: 4 }),
    fc.array(changes, { maxLength: 5 }),
    fc.nat(300),
    (members, given, offset) => {
      const overrides = given.map(({ member, start, length }, index) => ({
        id: `${index}`,
        rotation: 'oncall',
        member,
        startsAt: from + start * hour,
        endsAt: from + (start + length) * hour,
      }));
      const rotation = create(members, overrides);
      const shifts = rotation.listShifts(from + offset * hour, from + (offset + 300) * hour, 1000);
      for (const [index, { endsAt, startsAt, member }] of shifts.entries()) {
        const next = shifts[index + 1];
        if (next) assert.equal(next.startsAt, endsAt);
        for (let time = Math.max(startsAt, from); time < Math.min(endsAt, from + 700 * hour); time += hour) {
          const last = overrides.findLast((each) => each.startsAt <= time && time < each.endsAt);
          assert.equal(rotation.memberAt(time), last?.member ?? member);
          assert.equal(member, rotation.memberAt(time));
        }
        const other = rotation.nextShiftAfter(Math.max(startsAt, from));
        if (other) assert.notEqual(other.member, member);
      }
    },
  );
  fc.assert(model, { numRuns: amount(100, 3000) });
});
