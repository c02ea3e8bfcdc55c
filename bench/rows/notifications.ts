import { setTimeout } from 'node:timers/promises';
import { startReceiver } from '../../test/support/receiver.ts';
import { type Finding, median, quantile } from '../support/finding.ts';
import { ask, createPost } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox, withScope } from '../support/server.ts';

/** Milliseconds between two alerts. */
const everyMs = 10;

/** From the request that sends an alert to the notification at a receiver on this machine, each about another problem. */
export const notification: Measure = async ({ scope, rounds, seconds }) => {
  const findings: Finding[] = [];
  for (const notify of ['alerts', 'incidents'] as const) {
    const medians: number[] = [];
    const p99s: number[] = [];
    await withScope(scope.folder, async (own) => {
      const sent = new Map<string, number>();
      const times: number[] = [];
      const { url } = await startReceiver(own, (response, { body, at }) => {
        const [key = ''] = /probe-\d+/.exec(body) ?? [];
        const begun = sent.get(key);
        if (begun !== undefined) times.push(at - begun);
        sent.delete(key);
        response.end();
      });
      const keys = notify === 'incidents' ? { notify, groupSeconds: 0 } : { concurrency: 8 };
      const config = { destinations: [{ name: 'bench', type: 'webhook', url, ...keys }] };
      const flags = ['--profiles', 'alerts,incidents,monitoring', '--max-event-loop-delay', '0'];
      const server = await startSignalbox(own, { config, flags });
      let count = 0;
      // One round more, to warm up.
      for (let round = 0; round <= rounds; round += 1) {
        times.length = 0;
        const begun = performance.now();
        for (let index = 0; index < (seconds * 1000) / everyMs; index += 1) {
          const wait = begun + index * everyMs - performance.now();
          if (wait > 0) await setTimeout(wait);
          count += 1;
          const key = `probe-${count}`;
          sent.set(key, performance.now());
          void ask(createPost(`${server.url}/api/alert`, { key, level: 'ERROR', message: key, source: key }));
        }
        for (let waited = 0; sent.size > 0 && waited < 10_000; waited += 10) await setTimeout(10);
        if (sent.size > 0) throw new Error(`${sent.size} notifications did not arrive within 10 s`);
        if (round === 0) continue;
        medians.push(median(times));
        p99s.push(quantile(times, 0.99));
      }
    });
    const common = { unit: ' ms', rounds: `${rounds} × ${seconds} s` };
    const work = `POST /api/alert to notification with \`notify: ${notify}\`, 100 a second`;
    findings.push({ ...common, work: `${work}: median`, ours: medians, goal: '≤ 20 ms' });
    findings.push({ ...common, work: `${work}: p99`, ours: p99s, goal: '≤ 200 ms' });
  }
  return findings;
};
