import { ErrorBody, HttpError } from '../../../http/errors.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { createSettingRoutes } from '../../../kit/setting-routes.ts';
import { toTimeOrNull } from '../../../kit/time.ts';
import { readSpan } from './query-times.ts';
import { mostShifts, type Shift } from './rotation.ts';
import { RotationBody, type RotationKeeper, RotationList, rotationKind, toShownRotation } from './rotation-kind.ts';
import type { Rotations } from './rotations.ts';
import { type CalendarEntry, RotationCalendar, RotationCalendarQuery } from './schema.ts';

/** Creates the routes that list, change and delete rotations and show their calendars. */
export const createRotationRoutes = (keeper: RotationKeeper, rotations: Rotations, clock: () => Date): Route[] => {
  const { list, read, put, remove } = createSettingRoutes(rotationKind, keeper, toShownRotation);
  return [
    list({ operationId: 'listRotations', summary: 'List rotations with their layers', response: RotationList }),
    read({ operationId: 'getRotation', summary: 'Get a rotation' }),
    put(
      {
        operationId: 'putRotation',
        summary: 'Create a rotation of people, or replace its layers',
        body: RotationBody,
        ignores: rotationKind.shape as typeof RotationBody,
      },
      ({ timeZone, holidays, layers }) => ({
        layers,
        ...(timeZone !== undefined && { timeZone }),
        ...(holidays && { holidays }),
      }),
    ),
    remove({ operationId: 'deleteRotation', summary: 'Delete a rotation' }),
    createCalendarRoute(keeper, rotations, clock),
  ];
};

const createCalendarRoute = (keeper: RotationKeeper, rotations: Rotations, clock: () => Date): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/rotations/:rotation/calendar',
    ...rotationKind.reading,
    summary: 'List the shifts and gaps of a rotation',
    schema: {
      operationId: 'getRotationCalendar',
      params: rotationKind.params,
      querystring: RotationCalendarQuery,
      response: { 200: RotationCalendar, 404: ErrorBody },
    },
    handler: async ({ params, query }) => {
      const { name } = keeper.require((params as { rotation: string }).rotation);
      const [from, until] = readSpan(query.from, ['until', query.until], clock);
      const shifts = rotations.find(name)?.listShifts(from, until, mostShifts + 1) ?? [];
      if (shifts.length > mostShifts) {
        throw new HttpError('invalid', `There are more than ${mostShifts} shifts: request a shorter period`);
      }
      return { count: shifts.length, data: shifts.map(toEntry) };
    },
  });

const toEntry = ({ member, layer, override, startsAt, endsAt }: Shift): CalendarEntry => ({
  person: member ?? null,
  layer: layer ?? null,
  override: override ?? null,
  gap: member === undefined,
  startsAt: toTimeOrNull(startsAt),
  endsAt: toTimeOrNull(endsAt),
});
