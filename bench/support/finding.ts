import { quantile } from './figures.ts';

/** What one row measured, a figure for each round. */
export interface Finding {
  /** `B1`. */
  id: string;
  work: string;
  /** What stands behind each figure: `/s`, ` ms`. */
  unit: string;
  ours: number[];
  /** What was measured beside it, in the same rounds. */
  beside?: { name: string; figures: number[] };
  /** What the ratios were if only the servers' processor time counted: it tells more on a machine with other work. */
  cpuRatios?: number[];
  /** Any of them suffices; none where the figure is only told. */
  goals: Goal[];
}

/** What must hold of our median, or of the median of the rounds' own ratios. */
export interface Goal {
  of: 'ratio' | 'value';
  atLeast?: number;
  atMost?: number;
}

export type Verdict = 'met' | 'short' | 'no goal';

/** Ours divided by what stands beside it, round by round: what else the machine does changes between rounds. */
export const toRatios = ({ ours, beside }: Finding): number[] =>
  ours.flatMap((figure, round) => {
    const other = beside?.figures[round];
    return other === undefined ? [] : [figure / other];
  });

/** Whether a goal is reached; a figure that is no number reaches none. */
export const judge = (finding: Finding): Verdict => {
  if (finding.goals.length === 0) return 'no goal';
  return finding.goals.some((goal) => isReached(goal, finding)) ? 'met' : 'short';
};

const isReached = ({ of, atLeast = -Infinity, atMost = Infinity }: Goal, finding: Finding): boolean => {
  const figure = quantile(of === 'ratio' ? toRatios(finding) : finding.ours, 0.5);
  return figure >= atLeast && figure <= atMost;
};
