import { ask } from './ask.ts';
import type { Load, LoadRequest } from './load.ts';
import { readCpuMs } from './process-cost.ts';
import type { Server } from './server.ts';

/** Takes one measurement. */
export type Measurement = () => Promise<number>;

/** Measures the sides in turn, A B A B; returns each side's figures in the order of the rounds. */
export const takeTurns = async (rounds: number, sides: readonly Measurement[]): Promise<number[][]> => {
  const figures = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [side, measure] of sides.entries()) figures[side]?.push(await measure());
  }
  return figures;
};

interface Options {
  load: Load;
  rounds: number;
  seconds: number;
}

/** A request, and the process that responds to it. */
export interface Side {
  server: Pick<Server, 'pid'>;
  request: Omit<LoadRequest, 'seconds'>;
}

interface Rates {
  ours: number[];
  figures: number[];
  cpuRatios: number[];
}

/** Responses per second of our server and the comparison; the first second of each is not counted. */
export const compareRates = async ({ load, rounds, seconds }: Options, ours: Side, other: Side): Promise<Rates> => {
  const cpuOfOurs: number[] = [];
  const cpuOfOther: number[] = [];
  const sides = [
    () => measureRate(load, ours, seconds, cpuOfOurs),
    () => measureRate(load, other, seconds, cpuOfOther),
  ];
  for (const side of [ours, other]) await measureRate(load, side, 1, []);
  const [mine = [], figures = []] = await takeTurns(rounds, sides);
  const cpuRatios = cpuOfOther.map((ms, round) => ms / (cpuOfOurs[round] ?? Number.NaN));
  return { ours: mine, figures, cpuRatios };
};

/** Measures a rate, and adds the processor time per response to `cpuMs`. */
const measureRate = async (
  load: Load,
  { server, request }: Side,
  seconds: number,
  cpuMs: number[],
): Promise<number> => {
  const before = readCpuMs(server.pid);
  const { answers, perSecond } = await load.run({ ...request, seconds });
  cpuMs.push((readCpuMs(server.pid) - before) / answers);
  // Otherwise requests pending at the end of the load would slow down the other side.
  await ask(request);
  return perSecond;
};
