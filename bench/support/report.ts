import { quantile, toTable } from './figures.ts';
import { type Finding, type Goal, judge, toRatios } from './finding.ts';

/** A row, or part of one, without figures. */
export interface Gap {
  id: string;
  reason: string;
}

export interface Report {
  findings: Finding[];
  gaps: Gap[];
  /** How and on which machine it was measured, one line each. */
  surroundings: string[];
}

const head = ['', 'work', 'signalbox', 'compared with', 'ratio (lowest to highest)', 'by processor time', 'goal', ''];

/** The report as Markdown: the table, what was not measured, and the surroundings. */
export const toMarkdown = ({ findings, gaps, surroundings }: Report): string => {
  const missing = gaps.map(({ id, reason }) => `- ${id}: ${reason}\n`).join('');
  return [
    toTable(head, findings.map(toCells)),
    ...(missing === '' ? [] : [`Not measured:\n\n${missing}`]),
    `How it was measured:\n\n${surroundings.map((line) => `- ${line}\n`).join('')}`,
  ].join('\n');
};

const toCells = (finding: Finding): string[] => {
  const { id, work, unit, ours, beside, cpuRatios, goals } = finding;
  return [
    id,
    work,
    `${formatFigure(quantile(ours, 0.5))}${unit}`,
    beside ? `${formatFigure(quantile(beside.figures, 0.5))}${unit} ${beside.name}` : '',
    describeRatios(toRatios(finding)),
    cpuRatios ? formatRatio(quantile(cpuRatios, 0.5)) : '',
    goals.map((goal) => describeGoal(goal, unit)).join(' or '),
    { met: 'met', short: '**short**', 'no goal': '' }[judge(finding)],
  ];
};

const describeRatios = (ratios: number[]): string => {
  if (ratios.length === 0) return '';
  const [median, lowest, highest] = [0.5, 0, 1].map((share) => formatRatio(quantile(ratios, share)));
  return `${median} (${lowest} to ${highest})`;
};

const describeGoal = ({ of, atLeast, atMost }: Goal, unit: string): string => {
  const bound = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return `${bound}${of === 'ratio' ? ' ×' : unit}`;
};

/** Three decimals below 10, so that a narrow miss is visible. */
const formatRatio = (ratio: number): string => (ratio < 10 ? ratio.toFixed(3) : ratio.toFixed(1));

const formatFigure = (figure: number): string =>
  figure.toLocaleString('en', { maximumFractionDigits: Math.abs(figure) < 100 ? 1 : 0 });
