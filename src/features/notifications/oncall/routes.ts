import { HttpError, requireKnown } from '../../../http/errors.ts';
import { requireTime } from '../../../http/text-forms.ts';
import { defineRoute, type Route, toTimeOrNull, toTimeText } from '../../../kit/route.ts';
import { createSettingRoutes } from '../../../kit/setting-routes.ts';
import { dayMs } from '../../../lib/units.ts';
import { type KnownOverride, type Overrides, overrideKind } from './overrides.ts';
import type { Rotation, Shift } from './rotation.ts';
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

/** Maximum distance from now, in milliseconds: computing handovers for hundreds of years would take too long. */
const farthestMs = 5 * 366 * dayMs;

const usualDays = 28;
const mostDays = 400;

/** Maximum number of shifts in a schedule. */
const mostShifts = 5000;

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

/** Returns each rotation's member on call at a time (Unix milliseconds). */
export const listOnCall = (rotations: Rotations, overrides: Overrides, at: number): OnCallList => {
  const data = rotations.list().map((rotation) => toOnCall(rotation, at, overrides));
  return { count: data.length, data };
};

const createOnCallRoute = (rotations: Rotations, overrides: Overrides, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall',
    ...reading,
    summary: 'Return who is on call in each rotation, and who follows',
    schema: { operationId: 'getOnCall', querystring: OnCallQuery, response: { 200: OnCallList } },
    handler: async ({ query }) => listOnCall(rotations, overrides, readNearTime('at', query.at, clock)),
  });

const toOnCall = (rotation: Rotation, at: number, overrides: Overrides): OnCall => {
  const shift = rotation.shiftAt(at);
  const next = rotation.nextShiftAfter(at);
  const override = shift.override === undefined ? undefined : overrides.settings.find(shift.override);
  return {
    rotation: rotation.name,
    member: shift.member,
    members: [...rotation.members],
    startsAt: toTimeOrNull(shift.startsAt),
    // The same member may stay on call, with or without an override.
    endsAt: toTimeOrNull(next?.startsAt),
    override: override ? toDutyOverride(override) : null,
    next: next ? { member: next.member, startsAt: toTimeText(next.startsAt) } : null,
  };
};

const createScheduleRoute = (rotations: Rotations, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/oncall/schedule',
    ...reading,
    summary: 'List who will be on call, shift by shift',
    schema: { operationId: 'getOnCallSchedule', querystring: OnCallScheduleQuery, response: { 200: OnCallSchedule } },
    handler: async ({ query }) => {
      const from = readNearTime('from', query.from, clock);
      const to = query.to === undefined ? from + usualDays * dayMs : requireTime('to', query.to);
      if (to <= from) throw new HttpError('invalid', 'to must be after from');
      if (to - from > mostDays * dayMs)
        throw new HttpError('invalid', `to must be at most ${mostDays} days after from`);
      const chosen = rotations.list().filter(({ name }) => query.rotation === undefined || name === query.rotation);
      const shifts = chosen.flatMap((rotation) =>
        rotation.listShifts(from, to, mostShifts + 1).map((shift) => ({ ...shift, rotation: rotation.name })),
      );
      if (shifts.length > mostShifts) {
        throw new HttpError(
          'invalid',
          `There are more than ${mostShifts} shifts: request a shorter time, or one rotation`,
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
  member,
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
        .map(toDutyOverride);
      return { count: data.length, data };
    },
  });

const createChangingRoutes = (overrides: Overrides, clock: () => Date): Route[] => {
  const { create, end } = createSettingRoutes(overrideKind, overrides.settings, toDutyOverride);
  return [
    create(
      { operationId: 'createDutyOverride', summary: 'Put another member on call for some time', body: NewDutyOverride },
      async ({ rotation, member, comment = '', ...times }, by) => {
        const startsAt = readNearTime('startsAt', times.startsAt, clock);
        const endsAt = readNearTime('endsAt', times.endsAt, clock);
        return toDutyOverride(await overrides.create({ rotation, member, startsAt, endsAt, comment }, by));
      },
    ),
    end(
      { operationId: 'endDutyOverride', summary: 'End an override now, or delete one that has not begun' },
      async (id, { by, expected }) => {
        const known = requireKnown(overrides.settings.find(id.toLowerCase()), 'Override', id, overrideKind.path);
        return toDutyOverride(await overrides.end(known, by, expected));
      },
    ),
  ];
};

const toDutyOverride = ({ name, value, version, createdAt }: KnownOverride): DutyOverride => ({
  id: name,
  rotation: value.rotation,
  member: value.member,
  startsAt: toTimeText(value.startsAt),
  endsAt: toTimeText(value.endsAt),
  comment: value.comment,
  createdBy: value.createdBy,
  createdAt: toTimeText(createdAt),
  version,
});

/** Parses a time as Unix milliseconds; defaults to now. */
const readNearTime = (name: string, text: string | undefined, clock: () => Date): number => {
  const now = clock().getTime();
  const time = text === undefined ? now : requireTime(name, text);
  if (Math.abs(time - now) <= farthestMs) return time;
  throw new HttpError('invalid', `${name} must be within five years of now`);
};
