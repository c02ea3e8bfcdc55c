import { Agent } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { createPost, send } from './ask.ts';
import { quantile } from './figures.ts';

/** Milliseconds between two requests. */
const interval = 2;
/** A p99 comes from at least as many. */
const fewest = 2000;
/** More would be refused as too many of one address, after a pause of the machine. */
const maxSockets = 200;
/** Seconds that they take. */
export const probeSeconds = (fewest * interval) / 1000;

interface Options {
  intervalMs: number;
  count: number;
  /** Sent as POST. */
  body?: object | undefined;
}

/**
 * The p99 in milliseconds of requests at fixed intervals, whether the last one was answered or not, so that a server
 * that stands still gets requests meanwhile too. Throws if one is not answered with 200.
 */
export const measureP99At = async (url: string, { intervalMs, count, body }: Options): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets });
  const options = { agent, ...(body && createPost(url, body)) };
  // The time spent waiting for a busy processor would be measured too.
  tryPriority(constants.priority.PRIORITY_HIGH);
  const began = performance.now();
  const sent = [];
  for (let number = 0; number < count; number += 1) {
    const early = began + number * intervalMs - performance.now();
    if (early > 0) await setTimeout(early);
    sent.push(send(url, options));
  }
  const answers = await Promise.all(sent);
  agent.destroy();
  tryPriority(constants.priority.PRIORITY_NORMAL);
  const failed = answers.filter((answer) => answer?.status !== 200);
  if (failed.length > 0) throw new Error(`${failed.length} requests failed: ${failed[0]?.status ?? 'no answer'}`);
  return quantile(
    answers.map((answer) => answer?.ms ?? Number.NaN),
    0.99,
  );
};

/** The p99 in milliseconds of 2,000 requests, GET or, with a body, POST. */
export const measureP99 = (url: string, body?: object): Promise<number> =>
  measureP99At(url, { intervalMs: interval, count: fewest, body });

/** What the rounds of a p99 were, for the table. */
export const describeProbes = (rounds: number): string => `${rounds} × ${fewest.toLocaleString('en')} requests`;

const tryPriority = (priority: number): void => {
  try {
    setPriority(priority);
  } catch {
    // Not allowed for ordinary users; the figures are then slightly worse.
  }
};
