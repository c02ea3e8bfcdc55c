import Type, { type Static } from 'typebox';
import { needs } from '../../../auth/access.ts';
import { ErrorBody } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { Offers } from '../../../kit/offers.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { defineShape } from '../../../kit/shape.ts';
import { toTimeText } from '../../../kit/time.ts';
import type { ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs } from '../../../lib/units.ts';
import { requireOwnName } from './calendar-routes.ts';
import { readLoad, toWeek } from './load.ts';

interface LoadParts {
  incidents: Pick<IncidentSource, 'listSent' | 'find'>;
  zoneOf(person: string): ZoneClock;
  accounts: Offers['accounts'];
  clock: () => Date;
}

/** Number of weeks in a response, including this week. */
const shownWeeks = 12;

const PagingIncident = defineShape('PagingIncident', {
  number: Type.Integer({ examples: [412] }),
  title: Type.String({ examples: ['disk is full'] }),
});

const WeekOfLoad = defineShape('WeekOfLoad', {
  week: Type.String({
    format: 'date',
    examples: ['2026-01-26'],
    description: "Monday of the week in the person's time zone; days begin at 07:00.",
  }),
  pages: Type.Integer({
    description: 'Number of pages; simultaneous notifications through several contact methods count as one page.',
    examples: [5],
  }),
  nights: Type.Integer({ description: 'Number of nights, from 22:00 to 07:00, with a page.', examples: [2] }),
  notActedOn: Type.Array(PagingIncident, {
    description: 'Incidents that paged the person and that nobody acknowledged or resolved.',
  }),
});

export const PersonLoad = defineShape('PersonLoad', {
  person: Type.String({ examples: ['anna'] }),
  weeks: Type.Array(WeekOfLoad, { description: `Last ${shownWeeks} weeks, latest first.` }),
});

export type PersonLoad = Static<typeof PersonLoad>;

/** Creates the route that shows how often a person was paged and woken. */
export const createLoadRoutes = ({ incidents, zoneOf, accounts, clock }: LoadParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/people/:person/load',
    ...needs('account:own'),
    summary: 'Get the pages and disturbed nights of a person by week',
    schema: {
      operationId: 'getPersonLoad',
      params: Type.Object({ person: Type.String({ description: 'A user; `me` for yourself.' }) }),
      response: { 200: PersonLoad, 403: ErrorBody, 404: ErrorBody },
    },
    handler: async (request, reply) => {
      const person = requireOwnName(request, accounts);
      const now = toWeek(zoneOf(person).toLocal(clock().getTime()));
      const mondays = Array.from({ length: shownWeeks }, (_, index) => now - 7 * index * dayMs);
      const [load] = await readLoad(incidents, zoneOf, (name, week) => name === person && mondays.includes(week));
      const weeks = mondays.map((monday) => {
        const { pages = 0, nights = 0, notActedOn = [] } = load?.weeks.find(({ week }) => week === monday) ?? {};
        const shown = notActedOn.map(({ number, title }) => ({ number, title }));
        return { week: toTimeText(monday).slice(0, 10), pages, nights, notActedOn: shown };
      });
      return sendJson(reply, { person, weeks });
    },
  }),
];
