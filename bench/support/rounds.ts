import { ask } from './ask.ts';
import type { Finding } from './finding.ts';
import type { Load, LoadRequest } from './load.ts';
import { readCpuMs } from './process-cost.ts';

/** Takes one measurement. */
export type Measurement = () => Promise<number>;

/** Measures the sides in the order A B B A A B; returns each side's figures in the order of the rounds. */
export const takeTurns = async (rounds: number, sides: readonly Measurement[]): Promise<number[][]> => {
  const figures = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...sides.entries()];
    for (const [side, measure] of round % 2 === 0 ? order : order.reverse()) figures[side]?.push(await measure());
  }
  return figures;
};

interface Options {
  load: Load;
  rounds: number;
  seconds: number;
}

/** A request, and the processes that respond to it. */
export interface Side {
  pids: readonly number[];
  request: LoadRequest;
  /** How much of the work one response is, 1 by default. */
  weigh?: ((answer: string) => number) | undefined;
}

type Rates = Required<Pick<Finding, 'ours' | 'cpuRatios' | 'bytes' | 'rounds'>> & { figures: number[] };

/** Work per second of our server and the comparison, after a warm-up of a second for each. */
export const compareRates = async (
  { load, rounds, seconds }: Options,
  ...sides: readonly [Side, Side]
): Promise<Rates> => {
  const cpuMs: number[][] = sides.map(() => []);
  const answers: string[] = [];
  for (const { request } of sides) answers.push(await ask(request));
  const measurements = sides.map(({ pids, request, weigh }, side) => async (): Promise<number> => {
    const weight = weigh?.(answers[side] ?? '') ?? 1;
    const before = readCpuMs(...pids);
    const { answers: count, perSecond } = await load(request, seconds);
    cpuMs[side]?.push((readCpuMs(...pids) - before) / (count * weight));
    // Otherwise requests pending at the end of the load would slow down the other side.
    await ask(request);
    return perSecond * weight;
  });
  for (const { request } of sides) await load(request, 1);
  const [ours = [], figures = []] = await takeTurns(rounds, measurements);
  const [mine = [], others = []] = cpuMs;
  return {
    ours,
    figures,
    cpuRatios: others.map((ms, round) => ms / (mine[round] ?? Number.NaN)),
    bytes: [Buffer.byteLength(answers[0] ?? ''), Buffer.byteLength(answers[1] ?? '')],
    rounds: `${rounds} × ${seconds} s`,
  };
};
