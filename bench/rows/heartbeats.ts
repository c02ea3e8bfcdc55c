import { randomUUID } from 'node:crypto';
import { ask } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox, withScope } from '../support/server.ts';
import { measureCost } from './footprint.ts';

const flags = ['--profiles', 'alerts,incidents,monitoring'];

const createHeartbeats = (count: number, period = 3600) =>
  Array.from({ length: count }, (_, index) => ({ name: `job-${index}`, uuid: randomUUID(), period }));

/** Pings of one heartbeat, each on disk before its response; and what a thousand cost of which nothing comes. */
export const heartbeats: Measure = async ({ scope, load, rounds, seconds }) => {
  const [one] = createHeartbeats(1);
  const pings = await withScope(scope.folder, async (own) => {
    const { url } = await startSignalbox(own, { config: { heartbeats: [one] }, flags });
    const request = { url: `${url}/ping/${one?.uuid}`, method: 'POST', body: '412 files' } as const;
    await load(request, seconds);
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) rates.push((await load(request, seconds)).perSecond);
    return rates;
  });
  const measureIdle = (count: number) =>
    withScope(scope.folder, async (own) => {
      const all = createHeartbeats(count);
      const { url, pid } = await startSignalbox(own, { config: { heartbeats: all }, flags, place: 'any' });
      for (const { uuid } of all) await ask({ url: `${url}/ping/${uuid}` });
      return (await measureCost(pid)).map(({ share }) => share);
    });
  const [none, many] = [await measureIdle(0), await measureIdle(1000)];
  const ours = many.map((share, index) => share - (none[index] ?? 0));
  return [
    { work: 'POST /ping/{uuid}, 64 connections, on disk', unit: '/s', ours: pings, goal: '≥ 1000 /s' },
    { work: 'processor time of 1,000 idle heartbeats, beside none', unit: ' %', ours, goal: '≤ 0.3 %' },
  ].map((finding) => ({ ...finding, rounds: `${finding.ours.length} rounds` }));
};
