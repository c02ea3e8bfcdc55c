import type { Load, LoadRequest } from './load.ts';
import { readCpuMs } from './process-cost.ts';
import type { Server } from './server.ts';

/** Measures one thing once. */
export type Measurement = () => Promise<number>;

/** Takes the sides in turn, A B A B; answers each side's figures in the order of the rounds. */
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

/** A request, and the process that answers it. */
export interface Side {
  server: Pick<Server, 'pid'>;
  request: Omit<LoadRequest, 'seconds'>;
}

interface Rates {
  ours: number[];
  figures: number[];
  cpuRatios: number[];
}

/** Answers per second of ours and of what stands beside it; what each does in its first second is not counted. */
export const compareRates = async (
  { load, rounds, seconds }: Options,
  ours: Side,
  other: Side,
): Promise<Rates> => {
  for (const { request } of [ours, other]) await load.run({ ...request, seconds: 1 });
  const cpuMs = new Map<Side, number[]>([ours, other].map((side) => [side, []]));
  const sides = [ours, other].map(
    (side): Measurement =>
      async () => {
        const before = readCpuMs(side.server.pid);
        const { answers, perSecond } = await load.run({ ...side.request, seconds });
        cpuMs.get(side)?.push((readCpuMs(side.server.pid) - before) / answers);
        return perSecond;
      },
  );
  const [mine = [], figures = []] = await takeTurns(rounds, sides);
  const cpuOfOurs = cpuMs.get(ours) ?? [];
  const cpuRatios = (cpuMs.get(other) ?? []).map((ms, round) => ms / (cpuOfOurs[round] ?? Number.NaN));
  return { ours: mine, figures, cpuRatios };
};
