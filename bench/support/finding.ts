import { median } from './figures.ts';

/** The measurement of one row, one figure per round. */
export interface Finding {
  /** For example `B1`. */
  id: string;
  work: string;
  /** Printed after each figure: `/s` or ` ms`. */
  unit: string;
  ours: number[];
  /** The comparison, measured in the same rounds. */
  beside?: { name: string; figures: number[] };
  /** Ratios of the work done in the same processor time of the servers, one per round. */
  cpuRatios?: number[];
  /** Bytes of a response: ours and the comparison's. */
  bytes?: [number, number];
  /** Number and length of the rounds, or what else was measured, such as `6 × 1 s`. */
  rounds: string;
  /** Any one of them suffices; empty if the figure has no goal. */
  goals: Goal[];
}

/** A condition on our median, or on the median of the ratios per round. */
export interface Goal {
  of: 'ratio' | 'value';
  atLeast?: number;
  atMost?: number;
}

/** Our figure divided by the comparison's, round by round, since other load on the machine changes between rounds. */
export const toRatios = ({ ours, beside }: Finding): number[] =>
  ours.flatMap((figure, round) => {
    const other = beside?.figures[round];
    return other === undefined ? [] : [figure / other];
  });

/** Whether a goal is met; undefined if there is none. A figure that is not a number meets none. */
export const isMet = (finding: Finding): boolean | undefined =>
  finding.goals.length === 0
    ? undefined
    : finding.goals.some((goal) => isReached(goal, median(goal.of === 'ratio' ? toRatios(finding) : finding.ours)));

/** Whether the goals for a rate are also met by processor time; undefined if this was not measured or has no goal. */
export const isMetByCpu = ({ cpuRatios, goals }: Finding): boolean | undefined => {
  const ofRate = goals.filter(({ of, atLeast }) => of === 'ratio' && atLeast !== undefined);
  if (!cpuRatios || ofRate.length === 0) return undefined;
  return ofRate.some((goal) => isReached(goal, median(cpuRatios)));
};

const isReached = ({ atLeast = -Infinity, atMost = Infinity }: Goal, figure: number): boolean =>
  figure >= atLeast && figure <= atMost;
