import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs } from '../../../auth/access.ts';
import { callerOf } from '../../../auth/guard.ts';
import { ErrorBody, HttpError, requireKnown } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../../../http/text-forms.ts';
import type { Offers } from '../../../kit/offers.ts';
import { assertOwnMembers } from '../../../kit/own-members.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { sendSetting } from '../../../kit/setting-routes.ts';
import { defineList, defineShape, nullable } from '../../../kit/shape.ts';
import { Time, toTimeText } from '../../../kit/time.ts';
import { AbsenceCalendar, absenceKind, type KnownAbsences, parseCalendarUrl } from './absence-kind.ts';
import type { Absences } from './absences.ts';
import { requireOwnName } from './calendar-routes.ts';
import type { DeclinedProposals } from './declined-proposals.ts';
import type { Overrides } from './overrides.ts';
import { listProposals, type Proposal } from './proposals.ts';
import type { Rotations } from './rotations.ts';
import { toOverrideAuthor } from './routes.ts';
import { DutyOverride } from './schema.ts';

interface AbsenceRouteParts {
  absences: Absences;
  rotations: Rotations;
  overrides: Overrides;
  declined: DeclinedProposals;
  accounts: Offers['accounts'];
  clock: () => Date;
}

const NewAbsenceCalendar = Type.Object(
  {
    url: Type.String({
      examples: ['https://cloud.example.org/anna.ics'],
      description: 'https address of a calendar with absences.',
      writeOnly: true,
    }),
  },
  { title: 'NewAbsenceCalendar' },
);

const OverrideProposal = defineShape('OverrideProposal', {
  id: Type.String({ examples: ['8f14e45fceea167a5a36dedd4bea2543'] }),
  rotation: Type.String({ examples: ['ops'] }),
  person: Type.String({ description: 'User who is on call but absent.', examples: ['anna'] }),
  substitute: nullable(
    Type.String({ examples: ['ben'] }),
    'Next user of the rotation who is not absent; `null` if all are absent.',
  ),
  startsAt: Time,
  endsAt: Time,
});

const ProposalList = defineList('OverrideProposalList', 'Proposals', OverrideProposal, 'Earliest first.');

const AcceptedProposal = Type.Object(
  {
    member: Type.Optional(
      Type.String({
        description: 'User to put on call instead; by default the proposed substitute.',
        examples: ['ben'],
      }),
    ),
  },
  { title: 'AcceptedProposal' },
);

const ProposalParams = Type.Object({ proposal: Type.String({ description: 'Id of a proposal.' }) });

const { path: _, params, reading, changing } = absenceKind;
const path = '/api/people/:person/absences';

/** Creates the routes for absence calendars, and for overrides proposed because of absences. */
export const createAbsenceRoutes = (parts: AbsenceRouteParts): Route[] => [
  ...createCalendarSettingRoutes(parts),
  createProposalsRoute(parts),
  createAcceptRoute(parts),
  createDeclineRoute(parts),
];

const createCalendarSettingRoutes = ({ absences, accounts }: AbsenceRouteParts): Route[] => {
  const toShown = ({ name, url, setting }: KnownAbsences): AbsenceCalendar => {
    const reading = absences.findReading(name);
    return {
      url: `${new URL(url).origin}/***`,
      readAt: reading ? toTimeText(reading.at) : null,
      absences: reading?.absences.length ?? 0,
      problem: reading?.problem ?? null,
      version: setting.version,
    };
  };
  const require = (request: FastifyRequest): KnownAbsences => {
    const known = absences.settings.find(requireOwnName(request, accounts));
    if (known) return known;
    throw new HttpError('not-found', 'This person has no absence calendar');
  };
  const response = { 200: AbsenceCalendar, 403: ErrorBody, 404: ErrorBody };
  return [
    defineRoute({
      method: 'GET',
      path,
      ...reading,
      summary: 'Get the absence calendar of a person, without the secret address',
      schema: { operationId: 'getAbsenceCalendar', params, response },
      handler: async (request, reply) => sendSetting(reply, toShown(require(request))),
    }),
    defineRoute({
      method: 'PUT',
      path,
      ...changing,
      summary: 'Set the absence calendar of a person, which is read once an hour to propose overrides',
      headers: { request: putConditionHeaders },
      schema: {
        operationId: 'putAbsenceCalendar',
        params,
        body: NewAbsenceCalendar,
        response: { ...response, 201: AbsenceCalendar, 412: ErrorBody },
      },
      handler: async (request, reply) => {
        assertOwnMembers(request.body, NewAbsenceCalendar);
        const name = requireOwnName(request, accounts);
        const isNew = absences.settings.find(name) === undefined;
        const value = { url: parseCalendarUrl(request.body.url).href };
        const expected = readPutCondition(request.headers, isNew);
        const known = await absences.settings.put(name, value, callerOf(request), expected);
        return sendSetting(reply.code(isNew ? 201 : 200), toShown(known));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path,
      ...changing,
      summary: 'Delete the absence calendar of a person',
      headers: { request: ifMatchHeader },
      schema: { operationId: 'deleteAbsenceCalendar', params, response: { ...response, 412: ErrorBody } },
      handler: async (request, reply) => {
        const known = require(request);
        const shown = toShown(known);
        await absences.settings.delete(known.name, callerOf(request), readIfMatch(request.headers));
        return sendJson(reply, shown);
      },
    }),
  ];
};

const toShownProposal = ({ substitute, startsAt, endsAt, ...proposal }: Proposal) => ({
  ...proposal,
  substitute: substitute ?? null,
  startsAt: toTimeText(startsAt),
  endsAt: toTimeText(endsAt),
});

/** Lists the proposals that have not been declined. */
const listOpen = ({ rotations, absences, declined, clock }: AbsenceRouteParts): Proposal[] =>
  listProposals(rotations, absences, clock().getTime()).filter((proposal) => !declined.has(proposal));

const requireProposal = (parts: AbsenceRouteParts, id: string): Proposal =>
  requireKnown(
    listOpen(parts).find((each) => each.id === id),
    'Proposal',
    id,
    '/api/oncall/proposals',
  );

const createProposalsRoute = (parts: AbsenceRouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall/proposals',
    ...needs('incidents:read'),
    summary: 'List overrides proposed for absences in the next 90 days',
    schema: { operationId: 'listOverrideProposals', response: { 200: ProposalList } },
    handler: async (_request, reply) => {
      const data = listOpen(parts).map(toShownProposal);
      return sendJson(reply, { count: data.length, data });
    },
  });

const createAcceptRoute = (parts: AbsenceRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/oncall/proposals/:proposal/accept',
    ...needs('incidents:write'),
    summary: 'Accept a proposal: create its override',
    schema: {
      operationId: 'acceptOverrideProposal',
      params: ProposalParams,
      body: AcceptedProposal,
      response: { 201: DutyOverride, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, AcceptedProposal);
      const { overrides } = parts;
      const { rotation, person, substitute, startsAt, endsAt } = requireProposal(parts, request.params.proposal);
      const member = request.body.member ?? substitute;
      if (member === undefined) throw new HttpError('invalid', 'member is required, because everybody else is absent');
      const draft = { rotation, member, startsAt, endsAt, comment: `${person} is absent` };
      const created = await overrides.create(draft, toOverrideAuthor(callerOf(request), request));
      return sendSetting(reply.code(201), overrides.show(created));
    },
  });

const createDeclineRoute = (parts: AbsenceRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/oncall/proposals/:proposal/decline',
    ...needs('incidents:write'),
    summary: 'Decline a proposal; the shift does not change, and the proposal is no longer listed',
    schema: {
      operationId: 'declineOverrideProposal',
      params: ProposalParams,
      response: { 200: OverrideProposal, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      const proposal = requireProposal(parts, request.params.proposal);
      const { by, mayChangeOthers } = toOverrideAuthor(callerOf(request), request);
      if (!mayChangeOthers && by !== proposal.person) {
        throw new HttpError('forbidden', 'Only Admins can decline proposals for the shifts of other people');
      }
      await parts.declined.add(proposal, by);
      return sendJson(reply, toShownProposal(proposal));
    },
  });
