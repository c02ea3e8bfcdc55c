import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsJournal, writeJournal } from '../../support/real-journal.ts';
import { requires } from '../faults/support/requirements.ts';
import { type Machine, startMachine } from './support/machine.ts';

/** Entries of other sources. Reading them takes seconds. */
const filler = Array.from({ length: 200_000 }, (_, index) => ({
  _TRANSPORT: 'journal',
  _PID: String((index % 1000) + 100),
  SYSLOG_IDENTIFIER: `filler${index % 20}`,
  MESSAGE: `request ${index} took ${index % 977} ms and was answered with 200 OK`,
}));

/**
 * Runs a command line. Returns its rows, its duration, and the number of other requests that were answered in the
 * meantime.
 */
const measure = async ({ url, execute }: Machine, command: string) => {
  const started = performance.now();
  const running = execute(command).then(
    (rows) => ({ rows, ms: performance.now() - started, error: undefined }),
    (error: unknown) => ({ rows: [], ms: performance.now() - started, error: String(error) }),
  );
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  const others: number[] = [];
  while (!ended) {
    const sent = performance.now();
    await (await fetch(`${url}/nosuch`)).text();
    others.push(performance.now() - sent);
  }
  return { ...(await running), others };
};

const skip = requires({ programs: ['systemd-nspawn', 'nsenter'], mounts: true }).skip || needsJournal.skip;

test('events of one source are found in a long journal without reading it, and a search of the whole journal blocks no other requests', {
  skip,
}, async (t) => {
  const entries = [...filler];
  for (const index of [1000, 100_000]) {
    entries[index] = { _TRANSPORT: 'journal', _PID: '99', SYSLOG_IDENTIFIER: 'Rare-Source', MESSAGE: `rare ${index}` };
  }
  const machine = await startMachine(t, await writeJournal(t, entries));
  const folder = '/var/log/journal/$(cat /etc/machine-id)/';
  machine.run('sh', '-c', `install --mode 640 --group systemd-journal /packages/* ${folder}`);
  const all = await measure(machine, 'Get-EventLog Application -Index 9007199254740991');
  const missing = await measure(machine, 'Get-EventLog Application -Source nosuch');
  const rare = await measure(machine, 'Get-EventLog Application -Source rare-*');
  for (const [name, { ms, others }] of Object.entries({ all, missing, rare })) {
    const longest = Math.round(Math.max(...others));
    t.diagnostic(`${name}: ${Math.round(ms)} ms; ${others.length} other requests, the longest took ${longest} ms`);
  }
  assert.deepEqual(missing.rows, []);
  assert.deepEqual(
    rare.rows.map(({ Message }) => Message),
    ['rare 100000', 'rare 1000'],
  );
  assert.ok(missing.ms * 3 < all.ms);
  assert.ok(rare.ms * 3 < all.ms);
  // The search may take longer than the time limit of commands.
  assert.ok(all.error === undefined || /did not finish within 10 s/.test(all.error), all.error);
  assert.ok(all.others.length > 100);
});
