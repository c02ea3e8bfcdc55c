import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HeartbeatDefinition } from './definition.ts';
import { compileTimes } from './expected-times.ts';
import { clampTimes, createHeartbeatState, foldHeartbeat, type HeartbeatState } from './heartbeat-state.ts';
import { type HeartbeatStatus, judgeHeartbeat } from './judge.ts';
import type { Outage } from './outages.ts';
import type { Ping } from './records.ts';

const at = (text: string): number => Date.parse(text);
const show = (ms: number | null): string => (ms === null ? 'none' : new Date(ms).toISOString().slice(0, 16));

/** Creates a heartbeat, and functions that ping it at any time. */
const createLife = (definition: HeartbeatDefinition) => {
  const times = compileTimes(definition);
  let state = createHeartbeatState('job', 0);
  let seq = 0;
  const outages: Outage[] = [];
  return {
    send: (time: number, type: Ping['type'], rest: Partial<Ping> = {}): void => {
      seq += 1;
      state = foldHeartbeat(state, { ...rest, type, name: 'job', since: 0, at: time }, seq);
    },
    do: (time: number, type: 'pause' | 'resume'): void => {
      seq += 1;
      state = foldHeartbeat(state, { type, name: 'job', since: 0, at: time, by: 'anna' }, seq);
    },
    /** Judges the heartbeat and records a new problem, as the server does. */
    look: (time: number): HeartbeatStatus => {
      const { overdue, status } = judgeHeartbeat(state, { times, definition, since: 0, changedAt: 0 }, outages, time);
      if (overdue) {
        seq += 1;
        const record = { type: 'overdue', name: 'job', since: 0, at: time, ...overdue, after: state.seq } as const;
        state = foldHeartbeat(state, record, seq);
      }
      return status;
    },
    judge: (time: number) => judgeHeartbeat(state, { times, definition, since: 0, changedAt: 0 }, outages, time),
    sleep: (from: number, to: number): void => void outages.push({ from, to }),
    setClock: (time: number): void => {
      state = clampTimes(state, time);
    },
    state: (): HeartbeatState => state,
  };
};

test('a heartbeat is new until the first ping, late once a ping is due, and down after its grace', () => {
  const life = createLife({ period: 100 });
  assert.equal(life.look(at('2030-01-01')), 'new');
  life.send(0, 'success');
  const states = [0, 99_999, 100_000, 119_999, 120_000, 500_000].map((time) => life.judge(time).status);
  assert.deepEqual(states, ['up', 'up', 'late', 'late', 'down', 'down']);
  assert.deepEqual([life.judge(0).changesAt, life.judge(100_000).changesAt], [100_000, 120_000]);
  assert.equal(life.look(120_000), 'down');
  life.send(130_000, 'success');
  assert.equal(life.look(130_000), 'up');
});

test('the default grace is 20 % of the interval, and at least a second', () => {
  const { graceAt } = compileTimes({ period: 10 });
  assert.equal(graceAt(0), 2000);
  const daily = compileTimes({ schedule: '0 2 * * *', timeZone: 'UTC' });
  assert.equal(daily.graceAt(at('2026-01-31T02:00Z')), 4.8 * 3_600_000);
  assert.equal(compileTimes({ schedule: '0 2 * * *', grace: 1 }).graceAt(0), 1000);
});

test('a schedule follows the clocks of its time zone through the changes of daylight saving time', () => {
  const { dueAfter } = compileTimes({ schedule: '30 2 * * *', timeZone: 'Europe/Berlin' });
  const next = (text: string): string => show(dueAfter(at(text)));
  assert.equal(next('2026-03-28T00:00Z'), '2026-03-28T01:30');
  // Clocks skip half past two, so the ping is due right after the skipped hour.
  assert.equal(next('2026-03-28T01:30Z'), '2026-03-29T01:00');
  assert.equal(next('2026-03-29T01:00Z'), '2026-03-30T00:30');
  // Half past two occurs twice, but the ping is due once.
  assert.equal(next('2026-10-24T01:00Z'), '2026-10-25T00:30');
  assert.equal(next('2026-10-25T00:30Z'), '2026-10-26T01:30');
});

test('a daily job is due once on each day of a year, at its time or right after a skipped hour', () => {
  const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago'];
  for (const timeZone of zones) {
    const form = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    for (const time of ['00:30', '01:30', '02:15', '02:30']) {
      const [hour, minute] = time.split(':').map(Number);
      const { dueAfter } = compileTimes({ schedule: `${minute} ${hour} * * *`, timeZone });
      let due = dueAfter(at('2025-12-31T12:00Z'));
      const first = at(form.format(due).slice(0, 10));
      for (let day = 0; day < 365; day += 1, due = dueAfter(due)) {
        const [date, shown = ''] = form.format(due).split(' ');
        assert.equal(date, new Date(first + day * 86_400_000).toISOString().slice(0, 10), `${time} in ${timeZone}`);
        const isSkipped = form.format(due - 60_000) < `${date} ${time}` && shown > time;
        assert.ok(shown === time || isSkipped, `${time} is ${shown} on ${date} in ${timeZone}`);
      }
    }
  }
});

test('a period is a number of seconds, also when clocks change', () => {
  const life = createLife({ period: 86_400, grace: 60 });
  life.send(at('2026-03-28T12:00Z'), 'success');
  assert.equal(show(life.judge(at('2026-03-28T12:00Z')).dueAt), '2026-03-29T12:00');
});

test('a run that takes longer than the period and grace, or than maxRunMinutes, is down', () => {
  const life = createLife({ period: 3600, grace: 60 });
  life.send(0, 'success');
  life.send(3_600_000, 'start');
  assert.equal(life.look(3_700_000), 'running');
  assert.equal(life.look(7_260_000), 'down');
  const short = createLife({ period: 3600, grace: 60, maxRunMinutes: 5 });
  short.send(0, 'start');
  assert.equal(short.look(299_999), 'running');
  assert.equal(short.look(300_000), 'down');
  assert.deepEqual([short.state().problem?.why, short.state().runs[0]?.result], ['long', 'unfinished']);
  short.send(310_000, 'success');
  assert.deepEqual([short.look(310_000), short.state().runs[0]?.startedAt], ['up', 0]);
});

test('a job that starts again and again without an end is down', () => {
  const life = createLife({ period: 100, grace: 20 });
  life.send(0, 'start');
  life.send(100_000, 'start');
  assert.equal(life.look(119_999), 'running');
  assert.equal(life.look(120_000), 'down');
});

test('a ping that came due during an outage gets another grace', () => {
  const life = createLife({ period: 100, grace: 20 });
  life.send(0, 'success');
  life.sleep(50_000, 1_000_000);
  assert.deepEqual([life.look(1_000_000), life.look(1_019_999)], ['late', 'late']);
  assert.equal(life.look(1_020_000), 'down');
  const late = createLife({ period: 100, grace: 20 });
  late.send(0, 'success');
  late.sleep(110_000, 130_000);
  assert.deepEqual([late.look(149_999), late.look(150_000)], ['late', 'down']);
  const early = createLife({ period: 100, grace: 20 });
  early.send(0, 'success');
  early.sleep(10_000, 90_000);
  assert.equal(early.look(120_000), 'down');
});

test('after the clock was set back, the next ping is expected from the new time on', () => {
  const life = createLife({ period: 100, grace: 20 });
  life.send(1_000_000, 'success');
  life.setClock(500_000);
  assert.deepEqual([life.look(599_999), life.look(620_000)], ['up', 'down']);
});

test('a ping that comes while a late heartbeat is recorded counts', () => {
  const life = createLife({ period: 100, grace: 20 });
  life.send(0, 'success');
  const { seq } = life.state();
  life.send(125_000, 'success');
  const record = { type: 'overdue', name: 'job', since: 0, at: 125_001, why: 'late', dueAt: 0, after: seq } as const;
  assert.equal(foldHeartbeat(life.state(), record, 99).problem, null);
});

test('the last 100 runs are kept, and the outputs of the newest runs', () => {
  const life = createLife({ period: 100 });
  for (let index = 0; index < 150; index += 1)
    life.send(index, 'success', { output: 'x'.repeat(1000), exitCode: index });
  const { runs } = life.state();
  assert.deepEqual([runs.length, runs[0]?.exitCode, runs.filter(({ output }) => output).length], [100, 50, 65]);
});

type Step = { wait: number } & ({ type: Ping['type'] | 'pause' | 'resume'; rid?: string } | { type: 'look' });

/** Brute-force model that checks every second. */
class Naive {
  readonly #period: number;
  readonly #grace: number;
  readonly #most: number;
  #isNew = true;
  #paused = false;
  #down = false;
  #ended: number | undefined;
  #begun: number | undefined;
  #open: { rid: string | undefined; at: number; isGivenUp?: boolean }[] = [];
  readonly #done = new Set<string>();
  readonly #seen = new Set<string>();

  constructor(period: number, grace: number, most: number) {
    this.#period = period;
    this.#grace = grace;
    this.#most = most;
  }

  pass(second: number): void {
    if (this.#paused || this.#down || this.#ended === undefined) return;
    const from = Math.max(this.#ended, this.#begun ?? this.#ended);
    const isLong = this.#open.some((run) => !run.isGivenUp && second >= run.at + this.#most);
    if (isLong) for (const run of this.#open) run.isGivenUp = true;
    this.#down = isLong || second >= from + this.#period + this.#grace;
  }

  send(second: number, type: Ping['type'], rid: string | undefined): void {
    if (type === 'log') return;
    this.#isNew = false;
    if (type === 'start') {
      if (rid !== undefined && this.#seen.has(rid)) return;
      if (rid !== undefined) this.#seen.add(rid);
      else for (const run of this.#open) if (run.rid === undefined) run.isGivenUp = true;
      this.#open.push({ rid, at: second });
      this.#begun ??= second;
      this.#ended ??= second;
      return;
    }
    if (rid !== undefined) {
      if (this.#done.has(rid)) return;
      this.#done.add(rid);
      this.#seen.add(rid);
    }
    this.#open = this.#open.filter((run) => run.rid !== rid || (rid === undefined && run.isGivenUp));
    this.#ended = second;
    this.#begun = undefined;
    this.#down = type === 'failure';
  }

  pause(isPaused: boolean, second: number): void {
    if (this.#paused && !isPaused) {
      this.#down = false;
      this.#begun = undefined;
      for (const run of this.#open) run.isGivenUp = true;
      // The wait for the next ping, even if it is the first, begins now.
      this.#ended = second;
    }
    this.#paused = isPaused;
  }

  status(second: number): HeartbeatStatus {
    if (this.#paused) return 'paused';
    if (this.#down) return 'down';
    if (this.#ended === undefined) return 'new';
    if (this.#open.some(({ isGivenUp }) => !isGivenUp)) return 'running';
    if (second >= Math.max(this.#ended, this.#begun ?? 0) + this.#period) return 'late';
    return this.#isNew ? 'new' : 'up';
  }
}

test('after any pings at any times, the status matches a model that checks every second', () => {
  const anyStep: fc.Arbitrary<Step> = fc.record({
    wait: fc.integer({ min: 0, max: 90 }),
    type: fc.constantFrom('success', 'success', 'start', 'failure', 'log', 'pause', 'resume', 'look'),
    rid: fc.constantFrom(undefined, undefined, 'a', 'b', 'c'),
  }) as fc.Arbitrary<Step>;
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 100 }),
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(undefined, 0.5, 1),
      fc.array(anyStep, { maxLength: 40 }),
      (period, grace, maxRunMinutes, steps) => {
        const life = createLife({ period, grace, ...(maxRunMinutes !== undefined && { maxRunMinutes }) });
        const naive = new Naive(period, grace, (maxRunMinutes ?? Number.POSITIVE_INFINITY) * 60);
        let second = 0;
        for (const step of steps) {
          for (const end = second + step.wait; second < end; ) {
            second += 1;
            naive.pass(second);
            life.look(second * 1000);
          }
          const rid = 'rid' in step ? step.rid : undefined;
          if (step.type === 'pause' || step.type === 'resume') {
            life.do(second * 1000, step.type);
            naive.pause(step.type === 'pause', second);
          } else if (step.type !== 'look') {
            life.send(second * 1000, step.type, rid === undefined ? {} : { rid });
            naive.send(second, step.type, rid);
          }
          naive.pass(second);
          life.look(second * 1000);
          assert.equal(life.judge(second * 1000).status, naive.status(second));
        }
      },
    ),
    { numRuns: 500 },
  );
});
