import { Agent } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { send } from './ask.ts';
import { quantile, toSides } from './finding.ts';
import type { LoadRequest } from './load.ts';

/** More would be refused as too many of one address, after a pause of the machine. */
const maxSockets = 200;

/** Requests at fixed intervals. */
export const usual = { count: 2000, everyMs: 2 };

/** The p99 in milliseconds, and the bytes of a response. */
export interface Probe {
  p99: number;
  bytes: number;
}

/**
 * Sends requests whether the last one was answered or not, so that a server that stands still gets requests meanwhile,
 * too. Throws if one is not answered with 200.
 */
export const measureP99 = async ({ url, ...request }: LoadRequest, { count, everyMs } = usual): Promise<Probe> => {
  const agent = new Agent({ keepAlive: true, maxSockets });
  // The time spent waiting for a busy processor would be measured too.
  tryPriority(constants.priority.PRIORITY_HIGH);
  const began = performance.now();
  const sent = [];
  for (let number = 0; number < count; number += 1) {
    const early = began + number * everyMs - performance.now();
    if (early > 0) await setTimeout(early);
    sent.push(send(url, { ...request, agent }));
  }
  const answers = (await Promise.all(sent)).map((answer) => answer ?? { status: 0, text: 'no answer', ms: Number.NaN });
  agent.destroy();
  tryPriority(constants.priority.PRIORITY_NORMAL);
  const failed = answers.filter(({ status }) => status !== 200);
  if (failed[0]) throw new Error(`${failed.length} requests failed: ${failed[0].status} ${failed[0].text}`);
  const times = answers.map(({ ms }) => ms);
  return { p99: quantile(times, 0.99), bytes: Buffer.byteLength(answers[0]?.text ?? '') };
};

/** Two sides of probes, for the table. */
export const toTimes = (ours: Probe[] = [], theirs: Probe[] = [], { count, everyMs } = usual) => ({
  ...toSides(ours, theirs, ({ p99 }) => p99),
  unit: ' ms',
  rounds: `${ours.length} × ${count.toLocaleString('en')} requests in ${(count * everyMs) / 1000} s`,
});

const tryPriority = (priority: number): void => {
  try {
    setPriority(priority);
  } catch {
    // Not allowed for ordinary users; the figures are then slightly worse.
  }
};
