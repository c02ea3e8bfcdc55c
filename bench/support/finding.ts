import { quantile } from './figures.ts';

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
  /** Ratios of the servers' processor time only, which are more reliable on a busy machine. */
  cpuRatios?: number[];
  /** Any one of them suffices; empty if the figure has no goal. */
  goals: Goal[];
}

/** A condition on our median, or on the median of the ratios per round. */
export interface Goal {
  of: 'ratio' | 'value';
  atLeast?: number;
  atMost?: number;
}

export type Verdict = 'met' | 'short' | 'no goal';

/** Our figure divided by the comparison's, round by round, since other load on the machine changes between rounds. */
export const toRatios = ({ ours, beside }: Finding): number[] =>
  ours.flatMap((figure, round) => {
    const other = beside?.figures[round];
    return other === undefined ? [] : [figure / other];
  });

/** Whether a goal is met; a figure that is not a number meets none. */
export const judge = (finding: Finding): Verdict => {
  if (finding.goals.length === 0) return 'no goal';
  return finding.goals.some((goal) => isReached(goal, finding)) ? 'met' : 'short';
};

const isReached = ({ of, atLeast = -Infinity, atMost = Infinity }: Goal, finding: Finding): boolean => {
  const figure = quantile(of === 'ratio' ? toRatios(finding) : finding.ours, 0.5);
  return figure >= atLeast && figure <= atMost;
};
