import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFolder } from '../../../test/support/folder.ts';
import { amount } from '../../../test/support/long.ts';
import { atEnd, createScope, type Scope } from '../../../test/support/scope.ts';
import { type CheckSource, checkStates } from '../../kit/availability.ts';
import { openJournal } from '../../storage/journal/journal.ts';
import { ownLease } from '../../storage/postgres/lease.ts';
import { createSnapshotFile } from '../../storage/snapshot-file.ts';
import { Recorder } from './recorder.ts';
import { createAvailabilitySource } from './source.ts';
import { AvailabilityStore } from './store.ts';

const report = { warn: () => undefined, error: () => undefined };

/** World outside the server: the clock, the watched machine, silences and incidents. */
class World {
  now: number;
  reading: 'up' | 'down' | 'unknown' = 'up';
  isMaintained = false;
  createdAt = 1;
  isDefined = true;

  constructor(now: number) {
    this.now = now;
  }
}

/** Starts a server's recorder with its data in a folder. */
const startServer = async (t: Scope, directory: string, world: World) => {
  const journal = await openJournal({ directory, name: 'availability', awaitsHold: true, recentCount: 100 });
  const snapshot = createSnapshotFile(join(directory, 'availability.state'));
  const store = await AvailabilityStore.open({ log: journal, snapshot, report });
  const clock = () => new Date(world.now);
  const recorder = new Recorder({
    store,
    lease: ownLease,
    silences: { isMaintained: () => world.isMaintained, nextChangeAfter: () => undefined, onChanged: () => undefined },
    incidents: { listUnsettled: async () => [], onChanged: () => undefined },
    clock,
    log: { warn: (details: unknown) => assert.fail(JSON.stringify(details)) },
  });
  let note: (name: string | undefined) => void = () => undefined;
  const checks: CheckSource = {
    kind: 'watch',
    listDefined: () => (world.isDefined ? [{ name: 'site' }] : []),
    find: () => {
      const subject = { source: 'watch/site', hostname: '', level: 'ERROR', text: '', labels: null } as const;
      return world.isDefined ? { createdAt: world.createdAt, subject } : undefined;
    },
    listPlaces: () => [''],
    read: () =>
      world.isDefined
        ? { createdAt: world.createdAt, place: '', state: world.reading, at: world.now, cause: 'no answer' }
        : undefined,
    onChanged: (listener) => {
      note = listener;
    },
  };
  const source = createAvailabilitySource(store, clock, {
    record: (added) => recorder.add(added),
    findChecks: () => checks,
  });
  source.record(checks);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await store.close();
    isOpen = false;
  };
  atEnd(t, close);
  return {
    source,
    look: () => recorder.look(),
    noteChange: async (): Promise<void> => {
      note('site');
      note(undefined);
      await recorder.look();
    },
    /** Stops abruptly, without a last event or a snapshot. */
    kill: close,
    stop: async (): Promise<void> => {
      await recorder.close();
      await store.save();
      await close();
    },
  };
};

type Server = Awaited<ReturnType<typeof startServer>>;

const day = 24 * 60 * 60;
const spanSeconds = 4 * day;
const [, down, maintenance, unknown] = checkStates.map((_, code) => code) as [number, number, number, number];

/** State of the check in each second, as an all-knowing observer would record it. */
class Truth {
  readonly #first: number;
  readonly codes = new Uint8Array(spanSeconds).fill(unknown);
  /** Seconds whose state may be unknown because of a kill. */
  readonly loose = new Uint8Array(spanSeconds);

  constructor(first: number) {
    this.#first = first;
  }

  fill(code: number, fromMs: number, untilMs: number): void {
    const [from, until] = [Math.floor(fromMs / 1000) - this.#first, Math.floor(untilMs / 1000) - this.#first];
    this.codes.fill(code, from, until);
    this.loose.fill(0, from, until);
  }

  loosen(fromMs: number, untilMs: number): void {
    this.loose.fill(1, Math.floor(fromMs / 1000) - this.#first, Math.floor(untilMs / 1000) - this.#first);
  }
}

/** Start times of the scenarios: before clock changes in Berlin, at midnight UTC, and in summer. */
const beginnings = ['2026-03-29T00:30:10Z', '2026-10-25T00:20:07Z', '2026-06-01T23:30:00Z', '2026-07-01T21:45:30Z'].map(
  (text) => Date.parse(text),
);

const seconds = (min: number, max: number) => fc.integer({ min, max });

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('run' as const), seconds: seconds(1, 900) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('read' as const),
      reading: fc.constantFrom('up', 'down', 'unknown' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('maintain' as const), isOn: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const), seconds: seconds(1, 5000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('stop' as const), seconds: seconds(1, 5000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('sleep' as const), seconds: seconds(31, 5000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('back' as const), seconds: seconds(31, 5000) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const play = async (t: Scope, begin: number, steps: readonly Step[]) => {
  const world = new World(begin);
  const first = Math.floor(begin / 1000) - day;
  const truth = new Truth(first);
  const directory = createFolder(t);
  let server: Server = await startServer(t, directory, world);
  const codeOf = (): number => (world.isMaintained ? maintenance : checkStates.indexOf(world.reading));
  const run = async (length: number): Promise<void> => {
    for (let left = length; left > 0; left -= 20) {
      const next = world.now + Math.min(left, 20) * 1000;
      truth.fill(codeOf(), world.now, next);
      world.now = next;
      await server.look();
    }
  };
  /** Stops observing for a number of seconds. */
  const miss = (length: number): void => {
    const next = world.now + length * 1000;
    const code = codeOf();
    truth.fill(unknown, world.now, next);
    // A state that has just begun is held for a second.
    truth.fill(code, world.now, world.now + 1000);
    truth.loosen(world.now - 31_000, world.now + 1000);
    world.now = next;
  };
  await server.look();
  for (const each of steps) {
    if (each.type === 'run') await run(each.seconds);
    else if (each.type === 'read') {
      world.reading = each.reading;
      await server.noteChange();
    } else if (each.type === 'maintain') {
      world.isMaintained = each.isOn;
      await server.noteChange();
    } else if (each.type === 'back') {
      const earlier = Math.max(begin, world.now - each.seconds * 1000);
      // Changes shorter than half a minute can be missed.
      if (world.now - earlier <= 30_000) miss(31);
      else {
        truth.fill(unknown, earlier, world.now);
        world.now = earlier;
      }
      await server.look();
    } else {
      if (each.type === 'kill') await server.kill();
      if (each.type === 'stop') await server.stop();
      miss(each.seconds);
      if (each.type !== 'sleep') server = await startServer(t, directory, world);
      await server.look();
    }
  }
  await run(5);
  return { world, truth, first, server };
};

const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'];

test('each second has the state that an observer recorded, across kills, stops, sleep, clock changes and silences', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...beginnings), fc.array(step, { maxLength: 25 }), async (begin, steps) => {
      const scope = createScope();
      try {
        const { world, truth, first, server } = await play(scope, begin, steps);
        const { source } = server;
        const end = Math.floor(world.now / 1000);
        const recorded = new Uint8Array(end - first);
        for (let second = first; second < end; second += 1) {
          const found = source.measure('watch:site', second * 1000, (second + 1) * 1000);
          const code = checkStates.findIndex((state) => found[state] === 1);
          const index = second - first;
          recorded[index] = code;
          const isRight = code === truth.codes[index] || (truth.loose[index] === 1 && code === unknown);
          assert.ok(isRight, `${new Date(second * 1000).toISOString()}: ${code}, not ${truth.codes[index]}`);
        }
        assertTotals(recorded, first, server);
      } finally {
        await scope.end();
      }
    }),
    { numRuns: amount(15, 300) },
  );
});

/** Recounts days and outages from the state of each second. */
const assertTotals = (recorded: Uint8Array, first: number, { source }: Server): void => {
  const count = (from: number, until: number): number[] => {
    const counts = [0, 0, 0, 0];
    for (let index = from; index < until; index += 1)
      counts[recorded[index] ?? unknown] = (counts[recorded[index] ?? unknown] ?? 0) + 1;
    return counts;
  };
  const end = first + recorded.length;
  for (const timeZone of zones) {
    const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    const days = new Map<string, number[]>();
    // Days begin on whole minutes in every time zone.
    for (let second = first; second < end; ) {
      const next = Math.min(end, second + 60 - (second % 60));
      const name = format.format(second * 1000);
      const counts = count(second - first, next - first);
      days.set(
        name,
        (days.get(name) ?? [0, 0, 0, 0]).map((sum, code) => sum + (counts[code] ?? 0)),
      );
      second = next;
    }
    const listed = source.listDays('watch:site', first * 1000, end * 1000, timeZone);
    assert.deepEqual(
      listed.map((each) => [each.day, checkStates.map((state) => each[state])]),
      [...days],
    );
    for (const each of listed) {
      const share = each.up + each.down === 0 ? null : (100 * each.up) / (each.up + each.down);
      assert.ok(each.percentage === share || Math.abs((each.percentage ?? -1) - (share ?? -1)) <= 0.0001);
    }
  }
  const outages: [number, number][] = [];
  for (let index = 0; index < recorded.length; index += 1) {
    if (recorded[index] !== down) continue;
    const last = outages.at(-1);
    if (last && last[1] === index) last[1] = index + 1;
    else outages.push([index, index + 1]);
  }
  const listed = source.listOutages('watch:site', first * 1000, end * 1000).reverse();
  assert.deepEqual(
    listed
      .filter(({ seconds: length }) => length > 0)
      .map(({ startsAt, seconds: length }) => [startsAt / 1000 - first, length]),
    outages.map(([from, until]) => [from, until - from]),
  );
};
