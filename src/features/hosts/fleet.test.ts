import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReport } from '../../../test/hosts/support/hosts.ts';
import { createFolder } from '../../../test/support/folder.ts';
import { atEnd, type Scope } from '../../../test/support/scope.ts';
import type { HostReport } from '../../kit/host-report/report-schema.ts';
import { Fleet } from './fleet.ts';
import { HostFiles } from './host-file.ts';
import type { HostState, HostStore } from './host-state.ts';

const start = Date.parse('2026-01-31T12:00:00Z');
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;

const options = { isKept: () => true, silentMs: () => 20_000 };

/** Creates a fleet. `take` sends a report at a given time, and `readCpu` returns the CPU share of a minute. */
const createFleet = (t: Scope) => {
  const fleet = new Fleet(new HostFiles(createFolder(t)), options);
  atEnd(t, () => fleet.close());
  const toText = (at: number) => new Date(at).toISOString();
  return {
    take: (at: number, kept: [at: number | string, cpu: number][] = [], more: Partial<HostReport> = {}) =>
      fleet.take(
        'web-1',
        createReport('web-1', {
          time: toText(at),
          kept: kept.map(([time, cpu]) => ({
            time: typeof time === 'number' ? toText(time) : time,
            readings: { cpu },
          })),
          ...more,
        }),
        at,
      ),
    readCpu: async (at: number) => {
      const rows = await fleet.readRows('web-1', 60, at / 1000, at / 1000);
      return rows[0]?.values[0];
    },
  };
};

test('two reports in time, just before and just after a step, leave no hole', async (t) => {
  const fleet = new Fleet(new HostFiles(createFolder(t)), options);
  atEnd(t, () => fleet.close());
  const at = (seconds: number): number => start + seconds * 1000;
  const take = (time: number) => fleet.take('web-1', createReport('web-1', { readings: { cpu: 0.5 } }), time);
  for (const time of [at(9.9), at(20.1), at(45)]) await take(time);
  const rows = await fleet.readRows('web-1', 10, start / 1000, start / 1000 + 40);
  assert.deepEqual(
    rows.map(({ time }) => time - start / 1000),
    [0, 10, 20, 40],
  );
});

test('a stored minute that is older than the ring of minutes does not overwrite a newer minute', async (t) => {
  const { take, readCpu } = createFleet(t);
  const minute = start - 30 * minuteMs;
  await take(start, [[minute, 0.75]]);
  await take(start + 10_000, [
    [minute - dayMs, 0.25],
    [minute - 40 * dayMs, 0.25],
  ]);
  assert.equal(await readCpu(minute), 0.75);
});

test('stored minutes of the years 1900 and 9999 are ignored', async (t) => {
  const { take, readCpu } = createFleet(t);
  const minute = start - 30 * minuteMs;
  await take(start, [
    ['1900-01-01T00:00:00Z', 0.25],
    ['9999-01-01T00:00:00Z', 0.25],
    [minute, 0.75],
  ]);
  assert.equal(await readCpu(minute), 0.75);
});

test('the last minute before days of silence does not overwrite a stored minute in the same slot', async (t) => {
  const { take, readCpu } = createFleet(t);
  await take(start);
  const minute = start + 3 * dayMs;
  await take(minute + 5 * minuteMs, [[minute, 0.75]]);
  assert.equal(await readCpu(minute), 0.75);
});

test('a report whose state is larger than a host file allows is refused, and the next report is stored', async (t) => {
  const { take } = createFleet(t);
  const checks = Array.from({ length: 100 }, (_, index) => ({
    watch: `shop-${index}`,
    thing: 'https://shop.example',
    state: 'bad' as const,
    text: 'x'.repeat(1900),
  }));
  await assert.rejects(take(start, [], { checks }), {
    status: 413,
    message: 'The report of host web-1 is too large: its checks, processes and disks together must not exceed 128 KiB',
  });
  await take(start + 10_000);
});

test('a fleet drops the state of a host that another instance has deleted', async () => {
  const stored = new Map<string, HostState>();
  const store: HostStore = {
    load: async () => [...stored.values()],
    loadChanged: async () => [...stored.values()],
    save: async (state) => void stored.set(state.name, state),
    read: async () => [],
    delete: async (name) => void stored.delete(name),
    close: async () => undefined,
  };
  const known = new Set(['web-1', 'web-2']);
  const one = new Fleet(store, options);
  const other = new Fleet(store, { ...options, isKept: (name) => known.has(name) });
  for (const name of known) await one.take(name, createReport(name), start);
  await other.catchUp();
  assert.deepEqual(
    other.list().map(({ name }) => name),
    ['web-1', 'web-2'],
  );
  known.delete('web-1');
  await one.delete('web-1');
  await other.catchUp();
  assert.equal(other.find('web-1'), undefined);
  // The other instance may have stored a report after the deletion.
  await one.take('web-1', createReport('web-1'), start + 1000);
  await other.catchUp();
  assert.equal(other.find('web-1'), undefined);
  assert.equal(other.find('web-2')?.name, 'web-2');
});
