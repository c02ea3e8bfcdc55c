import type { FastifyRequest } from 'fastify';
import { findPrincipal } from '../../../auth/guard.ts';
import { HttpError, requireKnown } from '../../../http/errors.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { createSettingRoutes } from '../../../kit/setting-routes.ts';
import { toTimeOrNull, toTimeText } from '../../../kit/time.ts';
import type { Period } from './layer.ts';
import { type KnownOverride, type OverrideAuthor, type Overrides, overrideKind } from './overrides.ts';
import { readNearTime, readSpan } from './query-times.ts';
import { mostShifts, type Rotation, type Shift } from './rotation.ts';
import type { Rotations } from './rotations.ts';
import {
  type DutyOverride,
  DutyOverrideList,
  DutyOverrideQuery,
  NewDutyOverride,
  type OnCall,
  OnCallList,
  OnCallQuery,
  OnCallSchedule,
  OnCallScheduleQuery,
  type OnCallShift,
} from './schema.ts';

const { reading } = overrideKind;

interface RouteParts {
  rotations: Rotations;
  overrides: Overrides;
  clock: () => Date;
}

export const createOnCallRoutes = ({ rotations, overrides, clock }: RouteParts): Route[] => [
  createOnCallRoute(rotations, overrides, clock),
  createScheduleRoute(rotations, clock),
  createOverridesRoute(overrides),
  ...createChangingRoutes(overrides, clock),
];

/** Returns the member on call in each rotation at a time (Unix milliseconds). */
export const listOnCall = (rotations: Rotations, overrides: Overrides, at: number): OnCallList => {
  const data = rotations.list().map((rotation) => toOnCall(rotation, at, overrides));
  return { count: data.length, data };
};

const createOnCallRoute = (rotations: Rotations, overrides: Overrides, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall',
    ...reading,
    summary: 'List the current and next member on call in each rotation',
    schema: { operationId: 'getOnCall', querystring: OnCallQuery, response: { 200: OnCallList } },
    handler: async ({ query }) => listOnCall(rotations, overrides, readNearTime('at', query.at, clock)),
  });

const toOnCall = (rotation: Rotation, at: number, overrides: Overrides): OnCall => {
  const shift = rotation.shiftAt(at);
  const next = rotation.nextShiftAfter(at);
  const override = shift.override === undefined ? undefined : overrides.settings.find(shift.override);
  return {
    rotation: rotation.name,
    kind: rotation.kind,
    member: shift.member ?? null,
    members: [...rotation.members],
    startsAt: toTimeOrNull(shift.startsAt),
    // A handover may leave the same member on call, with or without an override.
    endsAt: toTimeOrNull(rotation.nextMemberChangeAfter(at)),
    override: override ? overrides.show(override) : null,
    next: next?.member === undefined ? null : { member: next.member, startsAt: toTimeText(next.startsAt) },
  };
};

const createScheduleRoute = (rotations: Rotations, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall/schedule',
    ...reading,
    summary: 'List upcoming shifts',
    schema: { operationId: 'getOnCallSchedule', querystring: OnCallScheduleQuery, response: { 200: OnCallSchedule } },
    handler: async ({ query }) => {
      const [from, to] = readSpan(query.from, ['to', query.to], clock);
      const chosen = rotations.list().filter(({ name }) => query.rotation === undefined || name === query.rotation);
      const shifts = chosen.flatMap((rotation) =>
        rotation.listShifts(from, to, mostShifts + 1).map((shift) => ({ ...shift, rotation: rotation.name })),
      );
      if (shifts.length > mostShifts) {
        throw new HttpError(
          'invalid',
          `There are more than ${mostShifts} shifts: request a shorter period, or one rotation`,
        );
      }
      const data = shifts.toSorted((one, other) => one.startsAt - other.startsAt || 0).map(toOnCallShift);
      return { count: data.length, data };
    },
  });

const toOnCallShift = ({
  rotation,
  member,
  startsAt,
  endsAt,
  override,
}: Shift & { rotation: string }): OnCallShift => ({
  rotation,
  member: member ?? null,
  startsAt: toTimeOrNull(startsAt),
  endsAt: toTimeOrNull(endsAt),
  override: override ?? null,
});

const createOverridesRoute = (overrides: Overrides): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall/overrides',
    ...reading,
    summary: 'List overrides of rotations, newest first',
    schema: {
      operationId: 'listDutyOverrides',
      querystring: DutyOverrideQuery,
      response: { 200: DutyOverrideList },
    },
    handler: async ({ query: { rotation } }) => {
      const data = overrides.settings
        .list()
        .filter(({ value }) => rotation === undefined || value.rotation === rotation)
        .toReversed()
        .map((known) => overrides.show(known));
      return { count: data.length, data };
    },
  });

const createChangingRoutes = (overrides: Overrides, clock: () => Date): Route[] => {
  const toShown = (known: KnownOverride): DutyOverride => overrides.show(known);
  const { create, end } = createSettingRoutes(overrideKind, overrides.settings, toShown);
  return [
    create(
      {
        operationId: 'createDutyOverride',
        summary: 'Create an override: take over, give away or swap a shift',
        body: NewDutyOverride,
      },
      async ({ rotation, member, comment = '', inReturn, ...times }, by, request) => {
        const draft = { rotation, member, comment, ...readPeriod('', times, clock) };
        const back = inReturn && readPeriod('inReturn.', inReturn, clock);
        return toShown(await overrides.create({ ...draft, inReturn: back }, toOverrideAuthor(by, request)));
      },
    ),
    end(
      { operationId: 'endDutyOverride', summary: 'End an override now, or delete an override that has not begun' },
      async (id, { by, expected }, request) => {
        const known = requireKnown(overrides.settings.find(id.toLowerCase()), 'Override', id, overrideKind.path);
        return toShown(await overrides.end(known, toOverrideAuthor(by, request), expected));
      },
    ),
  ];
};

const readPeriod = (
  place: string,
  { startsAt, endsAt }: { startsAt?: string; endsAt: string },
  clock: () => Date,
): Period => ({
  startsAt: readNearTime(`${place}startsAt`, startsAt, clock),
  endsAt: readNearTime(`${place}endsAt`, endsAt, clock),
});

/**
 * Returns the author of an override. Readers may change only their own shifts. Keys with the right may change all
 * shifts.
 */
export const toOverrideAuthor = (by: string, request: FastifyRequest): OverrideAuthor => ({
  by,
  mayChangeOthers: findPrincipal(request)?.role !== 'Reader',
});
