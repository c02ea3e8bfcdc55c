import { ask } from './ask.ts';
import type { Finding } from './finding.ts';
import type { Done, LoadRequest } from './load.ts';
import { readCpuMs } from './processor-time.ts';
import type { Bench } from './run.ts';

/** Measures the sides in the order A B B A A B; returns each side's results in the order of the rounds. */
export const takeTurns = async <T>(rounds: number, sides: readonly (() => Promise<T>)[]): Promise<T[][]> => {
  const results = sides.map((): T[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...sides.entries()];
    for (const [side, measure] of round % 2 === 0 ? order : order.reverse()) results[side]?.push(await measure());
  }
  return results;
};

/** What is compared by its rate. */
export interface Side {
  /** The processes that do the work. */
  pids: readonly number[];
  /** Bytes of a response. */
  bytes: number;
  work(): Promise<Done>;
  /** Waits until nothing is pending that would slow down the other side. */
  settle?(): Promise<unknown>;
}

/** A request under load; a response is as much work as `weigh` says, 1 by default. */
export const createSide = async (
  { load, seconds }: Bench,
  pids: readonly number[],
  request: LoadRequest,
  weigh: (answer: string) => number = () => 1,
): Promise<Side> => {
  const answer = await ask(request);
  const weight = weigh(answer);
  const work = async (): Promise<Done> => {
    const { count, perSecond } = await load(request, seconds);
    return { count: count * weight, perSecond: perSecond * weight };
  };
  return { pids, bytes: Buffer.byteLength(answer), work, settle: () => ask(request) };
};

export type Rates = Pick<Finding, 'unit' | 'ours' | 'theirs' | 'cpuRatios' | 'bytes' | 'rounds'>;

/** A rate, and the processor time that the servers took for one piece of work. */
export interface Round {
  perSecond: number;
  cpuMs: number;
}

export const toRates = ({ rounds, seconds }: Bench, [ours = [], theirs = []]: Round[][], bytes: number[]): Rates => ({
  unit: '/s',
  ours: ours.map(({ perSecond }) => perSecond),
  theirs: theirs.map(({ perSecond }) => perSecond),
  cpuRatios: theirs.map(({ cpuMs }, round) => cpuMs / (ours[round]?.cpuMs ?? Number.NaN)),
  bytes,
  rounds: `${rounds} × ${seconds} s`,
});

/** Work per second of our side and the comparison, after a round of each to warm up. */
export const compareRates = async (bench: Bench, ...sides: readonly [Side, Side]): Promise<Rates> => {
  const measure = async ({ pids, work, settle }: Side): Promise<Round> => {
    const before = readCpuMs(...pids);
    const { count, perSecond } = await work();
    const cpuMs = (readCpuMs(...pids) - before) / count;
    await settle?.();
    return { perSecond, cpuMs };
  };
  for (const side of sides) await measure(side);
  const rounds = await takeTurns(
    bench.rounds,
    sides.map((side) => () => measure(side)),
  );
  return toRates(bench, rounds, [sides[0].bytes, sides[1].bytes]);
};
