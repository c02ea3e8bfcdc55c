import { randomUUID } from 'node:crypto';
import { ask } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox, withScope } from '../support/server.ts';
import { measureCost } from './footprint.ts';

const createHeartbeats = (count: number, period = 3600) =>
  Array.from({ length: count }, (_, index) => ({ name: `job-${index}`, uuid: randomUUID(), period }));

/**
 * Creates five watches of each type that is available on this machine, with the usual intervals. None of the watches
 * fires.
 */
const createWatches = (url: string) => {
  const limit = { limit: 1000 };
  const readings = { disk: limit, memory: limit, cpu: limit, load: limit, pressure: limit, service: { failed: true } };
  const tcp = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const kinds = { ...readings, process: { process: 'node' }, file: { path: '/etc/passwd' }, http: { url }, tcp };
  const toFive = ([type, kind]: [string, object]) =>
    [1, 2, 3, 4, 5].map((count) => ({ name: `${type}-${count}`, type, ...kind }));
  return Object.entries(kinds).flatMap(toFive);
};

/**
 * Measures pings of one heartbeat, each of which is stored on disk before its response. Also measures the cost of many
 * silent heartbeats and watches.
 */
export const heartbeats: Measure = ({ scope, load, rounds, seconds }) =>
  withScope(scope.folder, async (own) => {
    const start = (count: number, watches: object[] = []) => {
      const config = { heartbeats: createHeartbeats(count), watches, defaultWatches: false };
      return startSignalbox(own, { config, place: 'any' }).then((server) => ({ ...server, ...config }));
    };
    const [pinged, none] = [await start(1), await start(0)];
    const url = `${pinged.url}/ping/${pinged.heartbeats[0]?.uuid}`;
    const request = { url, method: 'POST', body: '412 files' } as const;
    const pings = [];
    for (let round = 0; round <= rounds; round += 1) pings.push((await load(request, seconds)).perSecond);
    const idle = await measureCost(none.pid);
    const many = await start(1000, createWatches(`${none.url}/health`));
    for (const { uuid } of many.heartbeats) await ask({ url: `${many.url}/ping/${uuid}` });
    const ours = (await measureCost(many.pid)).map(({ share }, index) => share - (idle[index]?.share ?? 0));
    return [
      { work: 'POST /ping/{uuid}, 64 connections, on disk', unit: '/s', ours: pings.slice(1), goal: '≥ 1000 /s' },
      { work: '50 watches and 1,000 heartbeats, idle: processor time beside none', unit: ' %', ours, goal: '≤ 0.3 %' },
    ].map((finding) => ({ ...finding, rounds: `${finding.ours.length} rounds` }));
  });
