import { setTimeout } from 'node:timers/promises';
import { createBare } from '../support/opponents.ts';
import { ask } from '../support/requests.ts';
import { readCpuMs, readStatus } from '../support/rounds.ts';
import type { Measure } from '../support/run.ts';
import { startServer, startSignalbox, withScope } from '../support/server.ts';

/** Number of watches, and the seconds between two checks of each. */
const count = 1000;
const every = 60;

const readChecks = async (url: string): Promise<number> => {
  const [, checks] = /^signalbox_watch_checks_total (\d+)$/m.exec(await ask({ url: `${url}/metrics` })) ?? [];
  return Number(checks);
};

/** Measures the cost of 1000 checks per minute of websites and ports, on a server on this machine. */
export const checks: Measure = ({ scope, rounds }) =>
  withScope(scope.folder, async (own) => {
    const target = await startServer(own, { ...createBare('{"status":"up"}'), place: 'load' });
    const port = Number(new URL(target.url).port);
    const watches = Array.from({ length: count }, (_, index) => ({
      name: `check-${index}`,
      every,
      ...(index % 4 === 3
        ? { type: 'tcp', host: '127.0.0.1', port }
        : { type: 'http', url: `${target.url}/${index}`, json: [{ pointer: '/status', is: '=', value: 'up' }] }),
    }));
    const [none, all] = [await startSignalbox(own), await startSignalbox(own, { config: { watches } })];
    while ((await readChecks(all.url)) < count) await setTimeout(100);
    const shares = [];
    const counts = [];
    for (let round = 0; round < Math.min(rounds, 3); round += 1) {
      const [before, idle, first] = [readCpuMs(all.pid), readCpuMs(none.pid), await readChecks(all.url)];
      const began = performance.now();
      await setTimeout(every * 1000);
      const ms = performance.now() - began;
      shares.push((100 * (readCpuMs(all.pid) - before)) / ms);
      shares[round] = (shares[round] ?? 0) - (100 * (readCpuMs(none.pid) - idle)) / ms;
      counts.push((await readChecks(all.url)) - first);
    }
    const row = { rounds: `${shares.length} × ${every} s` };
    const resident = (readStatus(all.pid, 'VmRSS') - readStatus(none.pid, 'VmRSS')) / 1024;
    return [
      { ...row, work: '1,000 checks every 60 s: processor time beside none', unit: ' %', ours: shares, goal: '≤ 5 %' },
      { ...row, work: 'checks made in these 60 s', unit: '', ours: counts },
      { ...row, work: 'resident memory beside none', unit: ' MiB', ours: [resident] },
    ];
  });
