import { setTimeout } from 'node:timers/promises';
import { startReceiver } from '../../test/support/receiver.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { type Finding, median, quantile } from '../support/finding.ts';
import { ask, createPost } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox, withScope } from '../support/server.ts';

/** Milliseconds between two alerts. */
const everyMs = 10;

/**
 * Measures the time from the request with an alert to the notification at a receiver on this machine. Each alert is
 * about a different problem.
 */
export const notification: Measure = async ({ scope, rounds, seconds }) => {
  const measure = (notify: 'alerts' | 'incidents') =>
    withScope(scope.folder, async (own): Promise<Finding[]> => {
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
      const flags = ['--max-event-loop-delay', '0'];
      const server = await startSignalbox(own, { config, flags });
      const runRound = async (round: number): Promise<number[]> => {
        times.length = 0;
        const begun = performance.now();
        for (let index = 0; index < (seconds * 1000) / everyMs; index += 1) {
          await setTimeout(begun + index * everyMs - performance.now());
          const key = `probe-${round * 1e6 + index}`;
          sent.set(key, performance.now());
          void ask(createPost(`${server.url}/api/alert`, { key, level: 'ERROR', message: key, source: key }));
        }
        await waitUntil('all notifications have arrived', () => sent.size === 0);
        return [...times];
      };
      await runRound(0);
      const all: number[][] = [];
      for (let round = 1; round <= rounds; round += 1) all.push(await runRound(round));
      const row = { unit: ' ms', rounds: `${rounds} × ${seconds} s` };
      const work = `POST /api/alert to notification with \`notify: ${notify}\`, 100 a second`;
      return [
        { ...row, work: `${work}: median`, ours: all.map(median), goal: '≤ 20 ms' },
        { ...row, work: `${work}: p99`, ours: all.map((each) => quantile(each, 0.99)), goal: '≤ 200 ms' },
      ];
    });
  return [...(await measure('alerts')), ...(await measure('incidents'))];
};
