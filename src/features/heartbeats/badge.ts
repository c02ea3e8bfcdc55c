import type { HeartbeatStatus } from './judge.ts';

const colours: Record<HeartbeatStatus, string> = {
  new: '#6b7280',
  up: '#15803d',
  running: '#1d4ed8',
  late: '#b45309',
  down: '#b91c1c',
  paused: '#6b7280',
};

/** About the width of a character of 11 px, and the space beside a text. */
const characterPx = 7;
const besidePx = 12;

/** A badge as an SVG image; a name has no characters that XML does not take. */
export const drawBadge = (name: string, state: HeartbeatStatus): string => {
  const [left, right] = [name, state].map(({ length }) => length * characterPx + besidePx) as [number, number];
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
