import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../../test/support/long.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';
import { toPeopleRotation } from './create-rotation.ts';
import type { Rotation } from './rotation.ts';
import type { LayerSettings, RotationDefinition } from './settings.ts';

const at = (time: string): number => Date.parse(time);
const weekly = { every: '1 week', at: 'Mon 09:00' };

const create = (layers: LayerSettings[], timeZone = 'Europe/Berlin', holidays: string[] = []): Rotation =>
  toPeopleRotation('ops', { timeZone, layers, holidays });

const describe = (rotation: Rotation, from: string, to: string): string[] =>
  rotation
    .listShifts(at(from), at(to), 100)
    .map(({ member, startsAt, layer }) =>
      `${Number.isFinite(startsAt) ? new Date(startsAt).toISOString().slice(0, 16) : 'always'} ${member ?? 'gap'} ${layer ?? ''}`.trim(),
    );

test('handovers follow periods of weeks, days and hours, or a cron expression', () => {
  const people = ['anna', 'ben', 'carl'];
  for (const [handover, first, second] of [
    [weekly, '2026-01-05T08:00:00Z', '2026-01-12T08:00:00Z'],
    [{ every: '2 weeks', at: 'Wed 18:30' }, '2026-01-07T17:30:00Z', '2026-01-21T17:30:00Z'],
    [{ every: '1 day' }, '2026-01-05T08:00:00Z', '2026-01-06T08:00:00Z'],
    [{ every: '3 days', at: '00:00' }, '2026-01-04T23:00:00Z', '2026-01-07T23:00:00Z'],
    [{ every: '12 hours', at: '20:00' }, '2026-01-05T07:00:00Z', '2026-01-05T19:00:00Z'],
    [{ every: '0 9 1 * *' }, '2026-02-01T08:00:00Z', '2026-03-01T08:00:00Z'],
  ] as const) {
    const rotation = create([{ people, handover }]);
    const members = [at(first) - 1, at(first), at(second) - 1, at(second)].map((time) => rotation.memberAt(time));
    assert.deepEqual(members, ['carl', 'anna', 'anna', 'ben'], JSON.stringify(handover));
  }
});

test('a shift of a day is a day on the wall clock when clocks change', () => {
  const rotation = create([{ people: ['anna', 'ben'], handover: { every: '1 day', at: '02:30' } }]);
  const shifts = rotation.listShifts(at('2026-03-27T12:00:00Z'), at('2026-03-31T00:00:00Z'), 10);
  assert.deepEqual(
    shifts.map(({ startsAt, endsAt }) => (endsAt - startsAt) / hourMs),
    [24, 23.5, 23.5, 24],
  );
  const [, , skipped] = shifts;
  assert.equal(skipped?.startsAt, at('2026-03-29T01:00:00Z'), 'right after the gap');
  const autumn = rotation.listShifts(at('2026-10-24T12:00:00Z'), at('2026-10-26T12:00:00Z'), 10);
  assert.equal(autumn[1]?.startsAt, at('2026-10-25T00:30:00Z'), 'the first time');
});

test('times outside the hours of all layers are gaps', () => {
  const rotation = create([{ people: ['anna', 'ben'], handover: weekly, hours: 'Mon-Fri 08:00-18:00' }]);
  assert.deepEqual(describe(rotation, '2026-01-16T12:00:00Z', '2026-01-19T12:00:00Z'), [
    '2026-01-16T07:00 ben 0',
    '2026-01-16T17:00 gap',
    '2026-01-19T07:00 ben 0',
    '2026-01-19T08:00 anna 0',
  ]);
  assert.equal(rotation.memberAt(at('2026-01-17T12:00:00Z')), undefined);
  assert.equal(rotation.nextShiftAfter(at('2026-01-16T12:00:00Z'))?.member, 'anna');
  assert.equal(rotation.nextMemberChangeAfter(at('2026-01-16T12:00:00Z')), at('2026-01-16T17:00:00Z'));
});

test('on holidays the hours of Sunday apply, also on many holidays in a row', () => {
  const rotation = create(
    [
      { people: ['anna'], handover: weekly, hours: 'Mon-Fri 08:00-18:00' },
      { people: ['ben'], handover: weekly, hours: 'Sun 10:00-12:00' },
    ],
    'Europe/Berlin',
    ['2026-12-25', '2027-01-01'],
  );
  assert.deepEqual(describe(rotation, '2026-12-24T12:00:00Z', '2026-12-28T12:00:00Z'), [
    '2026-12-24T07:00 anna 0',
    '2026-12-24T17:00 gap',
    '2026-12-25T09:00 ben 1',
    '2026-12-25T11:00 gap',
    '2026-12-27T09:00 ben 1',
    '2026-12-27T11:00 gap',
    '2026-12-28T07:00 anna 0',
  ]);
  const days = Array.from({ length: 40 }, (_, day) =>
    new Date(at('2026-07-01') + day * dayMs).toISOString().slice(0, 10),
  );
  const closed = create([{ people: ['anna'], handover: weekly, hours: 'Mon-Fri 08:00-18:00' }], 'Europe/Berlin', days);
  assert.deepEqual(describe(closed, '2026-08-08T12:00:00Z', '2026-08-10T12:00:00Z'), [
    '2026-06-30T16:00 gap',
    '2026-08-10T06:00 anna 0',
  ]);
});

test('a night shift that begins before a holiday ends in the morning, and a holiday has the night shift of Sunday', () => {
  const nights = { people: ['anna'], handover: weekly };
  const shifts = (hours: string): string[] =>
    describe(
      create([{ ...nights, hours }], 'Europe/Berlin', ['2026-12-25']),
      '2026-12-24T12:00:00Z',
      '2026-12-27T12:00:00Z',
    ).slice(1);
  assert.deepEqual(shifts('Mon-Fri 22:00-06:00'), ['2026-12-24T21:00 anna 0', '2026-12-25T05:00 gap']);
  assert.deepEqual(shifts('Sun 20:00-06:00'), ['2026-12-25T19:00 anna 0', '2026-12-26T05:00 gap']);
  const always = create([{ ...nights, hours: 'Mon-Fri 00:00-24:00, Sat 00:00-24:00, Sun 00:00-24:00' }], 'UTC', [
    '2026-12-25',
  ]);
  assert.equal(always.nextChangeAfter(at('2026-12-24T12:00:00Z')), undefined);
});

test('in zones that change their rules, shifts of a day begin at the same time of the clocks', () => {
  for (const timeZone of ['America/Mexico_City', 'Africa/Cairo', 'Asia/Amman', 'Asia/Almaty', 'Europe/Volgograd']) {
    const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    const rotation = create([{ people: ['anna', 'ben'], handover: { every: '1 day' }, from: '2020-02-01' }], timeZone);
    const shifts = rotation.listShifts(at('2020-02-03T00:00:00Z'), at('2026-12-01T00:00:00Z'), 5000);
    const offsets = new Set(shifts.map(({ startsAt }) => startsAt % dayMs));
    const days = shifts.map(({ startsAt }) => clock.format(startsAt).split(' ')[0]);
    assert.equal(offsets.size, 2, timeZone);
    assert.deepEqual(new Set(shifts.map(({ startsAt }) => clock.format(startsAt).slice(-5))), new Set(['09:00']));
    assert.equal(new Set(days).size, shifts.length);
  }
});

test('the shifts of a member without an account pass to the next member, and the order stays', () => {
  const rotation = create([{ people: ['anna', 'ben', 'carl'], handover: weekly }]);
  const withoutBen = rotation.with([], (name) => name !== 'ben');
  assert.deepEqual(describe(withoutBen, '2026-01-06T00:00:00Z', '2026-02-03T00:00:00Z'), [
    '2026-01-05T08:00 anna 0',
    '2026-01-12T08:00 carl 0',
    '2026-01-26T08:00 anna 0',
    '2026-02-02T08:00 carl 0',
  ]);
  assert.equal(rotation.with([], () => false).memberAt(at('2026-01-06T00:00:00Z')), undefined);
});

test('a rotation that cannot work is refused with the reason', () => {
  const good = { people: ['anna'], handover: weekly };
  for (const [definition, problem] of [
    [{ timeZone: 'Mars', layers: [good] }, /^timeZone must be a name such as Europe\/Berlin or UTC, not "Mars"$/],
    [
      { layers: [{ ...good, handover: { every: '2 fortnights' } }] },
      /^handover.every must be a period such as "1 week"/,
    ],
    [{ layers: [{ ...good, handover: { every: '0 0 30 2 *' } }] }, /never matches a date/],
    [{ layers: [{ ...good, handover: { every: '5 hours' } }] }, /must divide a day/],
    [{ layers: [{ ...good, handover: { every: '0 days' } }] }, /from 1 to 366 days/],
    [{ layers: [{ ...good, handover: { every: '53 weeks' } }] }, /from 1 to 366 days/],
    [
      { layers: [{ ...good, handover: { every: '1 week', at: '09:00' } }] },
      /handover.at must be a time such as "Mon 09:00"/,
    ],
    [
      { layers: [{ ...good, handover: { every: '1 day', at: 'Mon 09:00' } }] },
      /handover.at must be a time such as "09:00"/,
    ],
    [{ layers: [{ ...good, handover: { every: '1 week', at: 'Moo 09:00' } }] }, /handover.at must be/],
    [
      { layers: [{ ...good, handover: { every: '0 9 * * 1', at: '09:00' } }] },
      /handover.at can be used only with periods/,
    ],
    [{ layers: [good, { ...good, hours: 'Mon 25:00' }] }, /^layer 2: hours: /],
    [{ layers: [good], holidays: ['2026-02-30'] }, /^holidays must be dates that exist, not "2026-02-30"$/],
    [{ layers: [{ ...good, from: '2026-02-30' }] }, /^from must be a date or a time/],
    [{ layers: [{ ...good, from: '1999-01-01' }] }, /^from must be in the years from 2020 to 2060/],
    [{ layers: [{ ...good, from: '2026-02-01', until: '2026-02-01' }] }, /^until must be after from/],
    [{ layers: [{ ...good, people: [{ name: 'anna', until: 'soon' }] }] }, /^until must be a date or a time/],
  ] as [RotationDefinition, RegExp][]) {
    assert.throws(
      () => toPeopleRotation('ops', definition),
      (error: Error) => problem.test(error.message) || assert.fail(error.message),
      JSON.stringify(definition),
    );
  }
});

/** Milliseconds between two steps of the oracle. All times in the test cases are multiples of a step. */
const stepMs = 15 * minuteMs;
const start = at('2026-01-03T00:00:00Z');
/** Local time from which shifts are counted if there is no start. */
const shiftStart = Date.UTC(2026, 0, 5);
/** Time from which the oracle and the rotation are compared. */
const compared = at('2026-01-07T00:00:00Z');

/** Reads a zone's clock at each step using only Intl. */
const readClock = (timeZone: string, until: number): ((time: number) => number) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const read = (time: number): number => at(`${format.format(time).replace(' ', 'T')}Z`) - time;
  const offsets: number[] = [];
  const perDay = dayMs / stepMs;
  for (let day = start - 2 * dayMs; day < until + dayMs; day += dayMs) {
    const [one, other] = [read(day), read(day + dayMs)];
    for (let step = 0; step < perDay; step += 1) offsets.push(one === other ? one : read(day + step * stepMs));
  }
  return (time) => time + (offsets[(time - start + 2 * dayMs) / stepMs] ?? Number.NaN);
};

interface Case {
  people: { name: string; from: number | undefined; until: number | undefined }[];
  unit: 'week' | 'day' | 'hour';
  count: number;
  day: number;
  /** Number of quarter hours since midnight. */
  quarter: number;
  hours: { days: [number, number]; from: number; length: number } | undefined;
  from: number | undefined;
  until: number | undefined;
}

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const toClock = (quarter: number): string =>
  `${Math.floor(quarter / 4)}`.padStart(2, '0').concat(':', `${(quarter % 4) * 15}`.padStart(2, '0'));

const toSettings = ({ people, unit, count, day, quarter, hours, from, until }: Case): LayerSettings => {
  const bounds = (given: { from: number | undefined; until: number | undefined }) => ({
    ...(given.from !== undefined && { from: new Date(given.from).toISOString() }),
    ...(given.until !== undefined && { until: new Date(given.until).toISOString() }),
  });
  const time = toClock(quarter);
  return {
    people: people.map(({ name, ...given }) => ({ name, ...bounds(given) })),
    handover: { every: `${count} ${unit}s`, at: unit === 'week' ? `${names[day]} ${time}` : time },
    ...(hours && {
      hours: `${names[hours.days[0]]}-${names[hours.days[1]]} ${toClock(hours.from)}-${toClock((hours.from + hours.length) % 96)}`,
    }),
    ...bounds({ from, until }),
  };
};

/** Walks through all steps of a layer and yields the index of the person on call, or -1. */
class Walk {
  readonly #layer: Case;
  readonly #holidays: ReadonlySet<string>;
  #current = -1;
  #last = -1;
  #count = 0;
  #isBegun = false;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(layer: Case, holidays: readonly string[]) {
    this.#layer = layer;
    this.#holidays = new Set(holidays);
  }

  /** Returns the person on call at the next step. */
  look(time: number, local: number): string | undefined {
    const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, people } = this.#layer;
    const isHandover = this.#isHandover(local);
    if (time < from || time >= until) return undefined;
    const present = people.flatMap((one, index) =>
      (one.from ?? Number.NEGATIVE_INFINITY) <= time && time < (one.until ?? Number.POSITIVE_INFINITY) ? [index] : [],
    );
    const isFirst = !this.#isBegun;
    if (isFirst && this.#layer.from === undefined) {
      if (local < shiftStart) return undefined;
      // Shift 0 begins with the first handover from then on.
      this.#current = present.at(-1) ?? -1;
      this.#count = -1;
    }
    this.#isBegun = true;
    const isCounted = isHandover && !(isFirst && this.#layer.from !== undefined);
    if (isCounted) this.#count += 1;
    const { unit, count } = this.#layer;
    const isShiftEnd = isCounted && (unit === 'hour' || this.#count % count === 0);
    if (this.#current >= 0) this.#last = this.#current;
    if (isShiftEnd || this.#current < 0 || !present.includes(this.#current))
      this.#current = present.find((index) => index > this.#last) ?? present[0] ?? -1;
    return this.#isWithinHours(local) ? people[this.#current]?.name : undefined;
  }

  /** True if clocks show the time of a handover for the first time or have just skipped it. */
  #isHandover(local: number): boolean {
    const { unit, count, day, quarter } = this.#layer;
    let isFound = false;
    for (let shown = Math.max(this.#latest + stepMs, local - 2 * dayMs); shown <= local; shown += stepMs) {
      const date = new Date(shown);
      const now = date.getUTCHours() * 4 + date.getUTCMinutes() / 15;
      const isTime = unit === 'hour' ? (now - quarter + 96) % (count * 4) === 0 : now === quarter;
      isFound ||= isTime && (unit !== 'week' || date.getUTCDay() === day) && this.#latest > Number.NEGATIVE_INFINITY;
    }
    this.#latest = Math.max(this.#latest, local);
    return isFound;
  }

  #isWithinHours(local: number): boolean {
    const { hours } = this.#layer;
    if (!hours) return true;
    const date = new Date(local);
    const quarter = date.getUTCHours() * 4 + date.getUTCMinutes() / 15;
    const isDay = (day: number): boolean => {
      const [first, last] = hours.days;
      return first <= last ? first <= day && day <= last : first <= day || day <= last;
    };
    const toDay = (day: Date): number => (this.#holidays.has(day.toISOString().slice(0, 10)) ? 0 : day.getUTCDay());
    const [today, yesterday] = [date, new Date(local - dayMs)].map(toDay) as [number, number];
    const end = hours.from + hours.length;
    return (isDay(today) && hours.from <= quarter && quarter < end) || (isDay(yesterday) && quarter + 96 < end);
  }
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kolkata',
  'Pacific/Chatham',
];

const years = amount(1, 10);
const end = compared + years * 365 * dayMs;

const anyTime = fc.integer({ min: 0, max: (end - compared) / stepMs }).map((step) => compared + step * stepMs);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const bounds = fc
  .tuple(maybe(anyTime), maybe(anyTime))
  .map(([one, other]) =>
    one !== undefined && other !== undefined && one >= other ? [other, one + stepMs] : [one, other],
  )
  .map(([from, until]) => ({ from, until }));

const layerCase: fc.Arbitrary<Case> = fc
  .record({
    people: fc.array(
      fc.tuple(
        fc.constantFrom('anna', 'ben', 'carl', 'dora'),
        fc.oneof(fc.constant({ from: undefined, until: undefined }), bounds),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    period: fc.constantFrom<[Case['unit'], number][]>(
      ['week', 1],
      ['week', 2],
      ['day', 1],
      ['day', 3],
      ['hour', 12],
      ['hour', 8],
      ['hour', 2],
    ),
    day: fc.nat(6),
    quarter: fc.oneof(fc.nat(95), fc.integer({ min: 4, max: 15 })),
    hours: maybe(
      fc.record({
        days: fc.tuple(fc.nat(6), fc.nat(6)),
        from: fc.nat(95),
        length: fc.integer({ min: 1, max: 95 }),
      }),
    ),
    bounds: fc.oneof(fc.constant({ from: undefined, until: undefined }), bounds),
  })
  .map(({ people, period: [unit, count], bounds: given, ...rest }) => ({
    ...rest,
    ...given,
    unit,
    count,
    people: people.map(([name, present]) => ({ name, ...present })),
  }));

const holidays = fc.array(
  fc.nat(years * 365).map((day) => new Date(start + day * dayMs).toISOString().slice(0, 10)),
  { maxLength: 20 },
);

for (const timeZone of zones) {
  test(`in ${timeZone} each handover matches a model of wall clocks and a list of people`, () => {
    const toLocal = readClock(timeZone, end);
    const model = fc.property(fc.array(layerCase, { minLength: 1, maxLength: 3 }), holidays, (layers, free) => {
      const rotation = create(layers.map(toSettings), timeZone, free);
      const walks = layers.map((layer) => new Walk(layer, free));
      const expected: [time: number, member: string | undefined][] = [];
      for (let time = start; time < end; time += stepMs) {
        const local = toLocal(time);
        const members = walks.map((walk) => walk.look(time, local));
        const member = members.findLast((each) => each !== undefined);
        if (time === compared || (time > compared && expected.at(-1)?.[1] !== member)) expected.push([time, member]);
      }
      const found: typeof expected = [];
      for (let time = compared; time < end; time = rotation.nextChangeAfter(time) ?? end) {
        const member = rotation.memberAt(time);
        if (time === compared || found.at(-1)?.[1] !== member) found.push([time, member]);
      }
      assert.deepEqual(found, expected);
      for (const [index, [time, member]] of found.entries()) {
        if (index > 0) assert.equal(rotation.memberAt(time - 1), found[index - 1]?.[1]);
        assert.equal(rotation.shiftAt(time).member, member);
      }
    });
    fc.assert(model, { numRuns: amount(3, 12) });
  });
}
