import { setTimeout } from 'node:timers/promises';
import { watchHealth } from '../../test/support/health.ts';
import { watchMemory } from '../../test/support/memory.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import type { Finding } from '../support/finding.ts';
import { ask, createPost } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox, withScope } from '../support/server.ts';

const destinationCount = 100;
const incidentCount = 1000;
/** Number of concurrent senders of alerts. */
const senders = 16;
const patienceMs = 180_000;

/** Measures many simultaneous incidents, each notified to many destinations, individually and in groups. */
export const measureNotifications: Measure = async ({ scope }) => {
  const findings: Finding[] = [];
  for (const groupSeconds of [0, 10]) {
    await withScope(scope.folder, async (own) => {
      const notified = new Set<string>();
      let requests = 0;
      const receiver = await startReceiver(own, (response, { path, body }) => {
        requests += 1;
        for (const [, key] of body.matchAll(/probe-(\d+)/g)) notified.add(`${path} ${key}`);
        response.end();
      });
      const destinations = Array.from({ length: destinationCount }, (_, index) => ({
        name: `d${index}`,
        type: 'webhook',
        url: `${receiver.url}/${index}`,
        notify: 'incidents',
        groupSeconds,
      }));
      const flags = ['--max-event-loop-delay', '0'];
      const { url, pid } = await startSignalbox(own, { config: { destinations }, flags });
      const [readGrowth, watch, begun] = [watchMemory(pid), watchHealth(url), performance.now()];
      let next = 0;
      const fire = async (): Promise<void> => {
        for (let index = next++; index < incidentCount; index = next++) {
          const key = `probe-${index}`;
          await ask(createPost(`${url}/api/alert`, { key, level: 'ERROR', message: key, source: 'stress' }));
        }
      };
      await Promise.all(Array.from({ length: senders }, fire));
      const wanted = destinationCount * incidentCount;
      // A message about many incidents names the first ones.
      const isOver = (): boolean => (groupSeconds === 0 ? notified.size === wanted : requests >= destinationCount);
      while (!isOver() && performance.now() - begun < patienceMs) await setTimeout(50);
      if (!isOver()) throw new Error(`${notified.size} of ${wanted} were notified in ${requests} requests`);
      const seconds = (performance.now() - begun) / 1000;
      const work = `${incidentCount.toLocaleString('en')} incidents to ${destinationCount} destinations, groupSeconds ${groupSeconds}`;
      const row = { rounds: `${requests.toLocaleString('en')} requests` };
      findings.push(
        { ...row, work: `${work}: until all are notified`, unit: ' s', ours: [seconds], goal: '≤ 120 s' },
        { ...row, work: 'memory growth', unit: ' MiB', ours: [readGrowth()], goal: '≤ 500 MiB' },
        { ...row, work: 'slowest GET /health meanwhile', unit: ' ms', ours: [await watch.stop()], goal: '≤ 1000 ms' },
      );
    });
  }
  return findings;
};
