import type { HeartbeatStatus } from './judge.ts';

const colours: Record<HeartbeatStatus, string> = {
  new: '#6b7280',
  up: '#15803d',
  running: '#1d4ed8',
  late: '#b45309',
  down: '#b91c1c',
  paused: '#6b7280',
};

/** Approximate width of an 11 px character. */
const characterPx = 7;

/** Padding on both sides of a text. */
const paddingPx = 12;

/** Draws a badge as an SVG image; names need no escaping in XML. */
export const drawBadge = (name: string, state: HeartbeatStatus): string => {
  const [left, right] = [name, state].map(({ length }) => length * characterPx + paddingPx) as [number, number];
  const width = left + right;
  const text = (at: number, shown: string): string => `<text x="${at}" y="14" text-anchor="middle">${shown}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${name}: ${state}">`,
    `<title>${name}: ${state}</title>`,
    `<rect width="${width}" height="20" rx="3" fill="#374151"/>`,
    `<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${colours[state]}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `${text(left / 2, name)}${text(left + right / 2, state)}</g></svg>`,
  ].join('');
};
