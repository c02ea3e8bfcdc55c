import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createAccessKey } from '../../src/auth/access.ts';
import { createReport } from '../../test/hosts/support/hosts.ts';
import { quantile } from '../support/finding.ts';
import { readCpuMs, readStatus } from '../support/rounds.ts';
import type { Measure } from '../support/run.ts';
import { startSignalbox } from '../support/server.ts';

const hostCount = 500;
const reportMs = 10_000;
const warmupRounds = 4;
const rounds = 9;

/** Reports per report that includes processes, and number of processes in such a report. */
const processesEvery = 6;
const processCount = 30;

const createProcess = (_: unknown, index: number) => ({
  pid: index + 1,
  parentPid: 1,
  name: `program-${index}`,
  user: 'root',
  cpu: 0.01,
  cpuSeconds: 12.5,
  memoryBytes: 1e8,
  threads: 3,
  startedAt: '2026-01-31T08:30:00.000Z',
});

/** Measures a hub with 500 hosts that each report every ten seconds on a separate connection. */
export const hosts: Measure = async ({ scope }) => {
  const all = Array.from({ length: hostCount }, (_, index) => {
    const name = `host-${index}`;
    return { name, ...createAccessKey(name, ['hosts:report']), agent: new Agent({ keepAlive: true, maxSockets: 1 }) };
  });
  const config = { keys: all.map(({ entry }) => entry), defaultWatches: false };
  const { url, pid } = await startSignalbox(scope, { config });
  const times: number[] = [];
  const send = ({ name, key, agent }: (typeof all)[number], round: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const processes = Array.from({ length: processCount }, createProcess);
      const more = round % processesEvery === 0 ? { processes } : {};
      const body = gzipSync(JSON.stringify(createReport(name, more)));
      const begun = performance.now();
      const headers = { authorization: `Bearer ${key}`, 'content-encoding': 'gzip', 'content-length': body.length };
      const sent = request(`${url}/api/hosts/${name}/readings`, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () => {
          times.push(performance.now() - begun);
          if (response.statusCode === 200) resolve();
          else reject(new Error(`a report got ${response.statusCode}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const run = async (count: number): Promise<void> => {
    const pending: Promise<void>[] = [];
    for (let round = 0; round < count; round += 1) {
      const begun = performance.now();
      for (const [index, host] of all.entries()) {
        pending.push(send(host, round + index));
        const waitMs = begun + ((index + 1) * reportMs) / hostCount - performance.now();
        if (waitMs > 1) await setTimeout(waitMs);
      }
    }
    await Promise.all(pending);
  };
  await run(warmupRounds);
  times.length = 0;
  const [cpuBefore, begun] = [readCpuMs(pid), performance.now()];
  await run(rounds);
  const percent = (100 * (readCpuMs(pid) - cpuBefore)) / (performance.now() - begun);
  const resident = readStatus(pid, 'VmRSS') / 1024;
  for (const { agent } of all) agent.destroy();
  const work = `${hostCount} hosts that report every ${reportMs / 1000} s`;
  const row = { rounds: `${rounds * hostCount} reports` };
  return [
    { ...row, work: `${work}: processor`, unit: ' %', ours: [percent], goal: '≤ 10 %' },
    { ...row, work: `${work}: resident memory`, unit: ' MiB', ours: [resident], goal: '≤ 300 MiB' },
    { ...row, work: `${work}: p99 of a report`, unit: ' ms', ours: [quantile(times, 0.99)], goal: '≤ 1000 ms' },
  ];
};
