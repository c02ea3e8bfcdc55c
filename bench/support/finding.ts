/** Line in the measurements of a row, with one figure per round. */
export interface Finding {
  work: string;
  /** Text printed after each figure: `/s` or ` ms`. */
  unit: string;
  ours: number[];
  /** Name of the comparison, followed by its figures from the same rounds. */
  name?: string;
  theirs?: number[];
  /** Ratios of work per processor time, ours to theirs, one per round. */
  cpuRatios?: number[];
  /** Bytes per response on our side and on the side of the comparison. */
  bytes?: number[] | undefined;
  /** Number and length of the rounds, such as `6 × 1 s`, or the extent of another kind of measurement. */
  rounds: string;
  /**
   * Goal: a ratio such as `≥ 0.95 ×`, or a limit for our figure such as `≤ 400 ms`. If goals are joined by ` or `,
   * reaching one suffices.
   */
  goal?: string | undefined;
}

export type Line = Finding & { id: string };
export type Gap = { id: string; reason: string };

/**
 * Returns the smallest value that the given share of the values does not exceed: 0.99 gives the p99, and 1 the maximum.
 */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

/** Returns the median: the middle value, or the mean of the two middle values. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
};

/** Converts results to both sides of a finding, with one figure per result and the bytes of the first responses. */
export const toSides = <T extends { bytes: number }>([ours = [], theirs = []]: T[][], pick: (result: T) => number) => ({
  ours: ours.map(pick),
  theirs: theirs.map(pick),
  bytes: [ours[0]?.bytes ?? 0, theirs[0]?.bytes ?? 0],
});

/**
 * Divides our figure by the figure of the comparison, round by round, because other load on the machine changes between
 * rounds.
 */
const toRatios = ({ ours, theirs = [] }: Finding): number[] =>
  ours.slice(0, theirs.length).map((figure, round) => figure / (theirs[round] ?? Number.NaN));

/** True if the goal is reached. A figure that is not a number reaches no goal. */
const isReached = (goal: string, ratio: number, value = Number.NaN): boolean =>
  goal.split(' or ').some((each) => {
    const [, sign, bound, unit] = /^([≥≤]) ([\d.]+) ?(\S.*)$/.exec(each) ?? [];
    if (sign === undefined) throw new Error(`not a goal: ${each}`);
    const figure = unit === '×' ? ratio : value;
    return sign === '≥' ? figure >= Number(bound) : figure <= Number(bound);
  });

/** Describes the verdict. Empty without a goal. A rate must also reach its goal in terms of processor time. */
const describeVerdict = (finding: Finding): string => {
  const { goal, ours, cpuRatios } = finding;
  if (goal === undefined) return '';
  const isMet = isReached(goal, median(toRatios(finding)), median(ours));
  const isMetByCpu = cpuRatios ? isReached(goal, median(cpuRatios)) : isMet;
  if (isMet === isMetByCpu) return isMet ? 'met' : '**missed**';
  return isMet ? '**missed** by processor time' : '**missed** by rate';
};

export const isMissed = (finding: Finding): boolean => describeVerdict(finding).startsWith('**');

const head = [
  ...['', 'work', 'signalbox', 'compared with', 'ratio (lowest to highest)', 'by processor time'],
  ...['bytes of a response', 'measured', 'goal', ''],
];

/** Formats the report as Markdown: circumstances (one per line), the table, and the rows that were not measured. */
export const toMarkdown = (surroundings: string[], lines: Line[], gaps: Gap[]): string => {
  const missed = lines.filter(isMissed);
  const withGoal = lines.filter(({ goal }) => goal !== undefined).length;
  const ids = [...new Set(missed.map(({ id }) => id))].join(', ');
  const reasons = gaps.map(({ id, reason }) => `- ${id}: ${reason}\n`);
  const table = [head, head.map(() => '---'), ...lines.map(toCells)].map((cells) => `|${cells.join('|')}|\n`);
  return [
    surroundings.map((line) => `- ${line}\n`).join(''),
    `Goals missed, by rate or by processor time: ${missed.length} of ${withGoal}${ids && ` (${ids})`}.\n`,
    table.join(''),
    ...(gaps.length === 0 ? [] : [`Not measured:\n\n${[...new Set(reasons)].join('')}`]),
  ].join('\n');
};

const toCells = (line: Line): string[] => {
  const { id, work, unit, ours, name, theirs, cpuRatios, bytes = [], rounds, goal = '' } = line;
  const ratios = toRatios(line);
  return [
    ...[id, work, `${formatFigure(median(ours))}${unit}`],
    theirs ? `${formatFigure(median(theirs))}${unit} ${name}` : '',
    ratios.length === 0 ? '' : `${formatRatio(median(ratios))}${ratios.length === 1 ? '' : describeRange(ratios)}`,
    cpuRatios ? formatRatio(median(cpuRatios)) : '',
    bytes.map((count) => count.toLocaleString('en')).join(' and '),
    ...[rounds, goal, describeVerdict(line)],
  ];
};

const describeRange = (ratios: number[]): string =>
  ` (${formatRatio(Math.min(...ratios))} to ${formatRatio(Math.max(...ratios))})`;

/** Formats a ratio. A ratio below 10 has three decimals, so that a narrow miss is visible. */
const formatRatio = (ratio: number): string => (Math.abs(ratio) < 10 ? ratio.toFixed(3) : ratio.toFixed(1));

const formatFigure = (figure: number): string => {
  const digits = Math.abs(figure) < 1 ? 3 : 1;
  return figure.toLocaleString('en', { maximumFractionDigits: Math.abs(figure) < 100 ? digits : 0 });
};

const block = /(<!-- figures: begin -->\n).*(<!-- figures: end -->\n)/s;

/** Returns the document with the text between its markers replaced. Throws if there are no markers. */
export const insertBetweenMarkers = (document: string, text: string): string => {
  if (!block.test(document)) throw new Error('the markers figures: begin and figures: end are missing');
  return document.replace(block, (_, begin, end) => `${begin}\n${text}\n${end}`);
};
