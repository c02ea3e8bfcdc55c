import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { median, toTable } from './figures.ts';
import { type Finding, type Goal, isMet, isMetByCpu, toRatios } from './finding.ts';

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

const head = [
  ...['', 'work', 'signalbox', 'compared with', 'ratio (lowest to highest)', 'by processor time'],
  ...['bytes of a response', 'measured', 'goal', ''],
];

/** The report as Markdown: the surroundings, the table, and what was not measured. */
export const toMarkdown = ({ findings, gaps, surroundings }: Report): string => {
  const missing = gaps.map(({ id, reason }) => `- ${id}: ${reason}\n`).join('');
  const missed = findings.filter((finding) => isMet(finding) === false || isMetByCpu(finding) === false);
  const withGoal = findings.filter((finding) => isMet(finding) !== undefined).length;
  const ids = [...new Set(missed.map(({ id }) => id))].join(', ');
  return [
    surroundings.map((line) => `- ${line}\n`).join(''),
    `Goals missed, by rate or by processor time: ${missed.length} of ${withGoal}${ids && ` (${ids})`}.\n`,
    toTable(head, findings.map(toCells)),
    ...(missing === '' ? [] : [`Not measured:\n\n${missing}`]),
  ].join('\n');
};

const toCells = (finding: Finding): string[] => {
  const { id, work, unit, ours, beside, cpuRatios, bytes, rounds, goals } = finding;
  return [
    id,
    work,
    `${formatFigure(median(ours))}${unit}`,
    beside ? `${formatFigure(median(beside.figures))}${unit} ${beside.name}` : '',
    describeRatios(toRatios(finding)),
    cpuRatios ? formatRatio(median(cpuRatios)) : '',
    bytes ? bytes.map((count) => count.toLocaleString('en')).join(' and ') : '',
    rounds,
    goals.map((goal) => describeGoal(goal, unit)).join(' or '),
    describeVerdict(finding),
  ];
};

const describeVerdict = (finding: Finding): string => {
  const [byRate, byCpu] = [isMet(finding), isMetByCpu(finding)];
  if (byRate === undefined) return '';
  if (byCpu === undefined || byCpu === byRate) return byRate ? 'met' : '**missed**';
  return byRate ? '**missed** by processor time' : '**missed** by rate';
};

const describeRatios = (ratios: number[]): string => {
  if (ratios.length === 0) return '';
  const range = `${formatRatio(Math.min(...ratios))} to ${formatRatio(Math.max(...ratios))}`;
  return ratios.length === 1 ? formatRatio(median(ratios)) : `${formatRatio(median(ratios))} (${range})`;
};

const describeGoal = ({ of, atLeast, atMost }: Goal, unit: string): string => {
  const bound = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return `${bound}${of === 'ratio' ? ' ×' : unit}`;
};

/** Three decimals below 10, so that a narrow miss is visible. */
const formatRatio = (ratio: number): string => (Math.abs(ratio) < 10 ? ratio.toFixed(3) : ratio.toFixed(1));

const formatFigure = (figure: number): string => {
  const digits = Math.abs(figure) < 1 ? 3 : 1;
  return figure.toLocaleString('en', { maximumFractionDigits: Math.abs(figure) < 100 ? digits : 0 });
};

const begin = '<!-- figures: begin -->\n';
const end = '<!-- figures: end -->\n';

/** The document with the text between its markers replaced; throws if it has no markers. */
export const insertBetweenMarkers = (document: string, text: string): string => {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the markers ${begin.trim()} and ${end.trim()} are missing`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
};

/** Returns a function that writes a text between the markers of a file; throws at once if the file has no markers. */
export const createMarkedWriter = (path: string): ((text: string) => void) => {
  const read = () => (existsSync(path) ? readFileSync(path, 'utf8') : `${begin}${end}`);
  insertBetweenMarkers(read(), '');
  return (text) => writeFileSync(path, insertBetweenMarkers(read(), text));
};
