import Type from 'typebox';
import { openFor, type RouteAccess } from '../auth/access.ts';
import { ErrorBody, HttpError } from '../http/errors.ts';
import { dayMs } from '../lib/units.ts';
import type { AvailabilitySource, CheckId } from './availability.ts';
import { defineRoute, type Route } from './route.ts';

const badgeColours = { good: '#15803d', busy: '#1d4ed8', warning: '#b45309', bad: '#b91c1c', none: '#6b7280' };

/** State shown on a badge. */
interface BadgeState {
  text: string;
  colour: keyof typeof badgeColours;
}

/** Approximate width of a character in 11 px type. */
const characterPx = 7;

/** Padding around the text, left and right together. */
const paddingPx = 12;

/** Draws a badge as an SVG image. Name and state must not need escaping in XML. */
const drawBadge = (name: string, { text: state, colour }: BadgeState): string => {
  const [left, right] = [name, state].map(({ length }) => length * characterPx + paddingPx) as [number, number];
  const width = left + right;
  const text = (at: number, shown: string): string => `<text x="${at}" y="14" text-anchor="middle">${shown}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${name}: ${state}">`,
    `<title>${name}: ${state}</title>`,
    `<rect width="${width}" height="20" rx="3" fill="#374151"/>`,
    `<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${badgeColours[colour]}"/>`,
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
    `${text(left / 2, name)}${text(left + right / 2, state)}</g></svg>`,
  ].join('');
};

const BadgeQuery = Type.Object({
  show: Type.Enum(['state', 'percentage'], {
    type: 'string',
    default: 'state',
    description: '`percentage`: the availability of the last `days`.',
  }),
  days: Type.Integer({
    minimum: 1,
    maximum: 366,
    default: 30,
    description: 'Number of days that the percentage covers.',
  }),
});

interface BadgeParts extends Pick<RouteAccess, 'right'> {
  /** Path of the checks, such as `/api/watches`. */
  path: string;
  /** Name of the parameter in the path. */
  parameter: string;
  /** Word for the check in messages, such as `watch`. */
  noun: 'watch' | 'heartbeat';
  operationId: string;
  availability: Pick<AvailabilitySource, 'measure'>;
  clock: () => Date;
  /** Returns the state of a check whose badge is open. */
  findOpen(name: string): BadgeState | undefined;
}

/** Creates the route for a check's badge. The badge needs no token if the check has `open`. */
export const createBadgeRoute = (parts: BadgeParts): Route => {
  const { path, parameter, noun, operationId, right, availability, clock, findOpen } = parts;
  return defineRoute({
    method: 'GET',
    path: `${path}/:${parameter}/badge.svg`,
    ...openFor(right),
    staysOpen: true,
    summary: `Get the badge of a ${noun} with \`open\` set`,
    schema: {
      operationId,
      params: Type.Object({ [parameter]: Type.String({ description: `Name of a ${noun}.`, examples: ['backup'] }) }),
      querystring: BadgeQuery,
      response: {
        200: { content: { 'image/svg+xml': { schema: Type.String({ examples: ['<svg></svg>'] }) } } },
        404: ErrorBody,
      },
    },
    handler: async ({ params, query: { show, days } }, reply) => {
      const { [parameter]: name = '' } = params as Record<string, string>;
      const state = findOpen(name);
      // The message is the same for all names, so that callers cannot find out which names exist.
      if (!state) throw new HttpError('not-found', `There is no ${noun} with this name and an open badge`);
      const shown = show === 'state' ? state : measure(availability, `${noun}:${name}`, days, clock().getTime());
      return reply.header('cache-control', 'no-cache').type('image/svg+xml').send(drawBadge(name, shown));
    },
  });
};

const measure = (
  { measure: of }: BadgeParts['availability'],
  check: CheckId,
  days: number,
  now: number,
): BadgeState => {
  const { percentage } = of(check, now - days * dayMs, now);
  if (percentage === null) return { text: 'unknown', colour: 'none' };
  const colour = percentage >= 99.9 ? 'good' : percentage >= 99 ? 'busy' : percentage >= 95 ? 'warning' : 'bad';
  return { text: `${Math.floor(100 * percentage) / 100} % (${days} d)`, colour };
};
