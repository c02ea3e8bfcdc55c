import Type, { type Static } from 'typebox';
import { defineList, defineShape, nullable, optionalText } from '../../../kit/shape.ts';

const longestComment = 4000;

const example = '2036-01-31T08:00:00.000Z';

const ShiftTime = Type.String({ format: 'date-time', examples: [example] });

const givenTime = (description: string) => Type.String({ description, examples: [example] });

const rotation = Type.String({ description: 'Name of a rotation.', examples: ['oncall'] });

const member = Type.String({ description: 'Name of a user or destination.', examples: ['anna-phone'] });

const overrideId = Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c57'] });

export const DutyOverride = defineShape('DutyOverride', {
  id: overrideId,
  rotation,
  member: Type.String({
    ...member,
    description: 'Member to put on call instead: a user, or in rotations of destinations a member of any rotation.',
  }),
  startsAt: ShiftTime,
  endsAt: ShiftTime,
  inReturn: nullable(
    Type.Object({ member, startsAt: ShiftTime, endsAt: ShiftTime }),
    'Second part of a swap: the shift taken in return.',
  ),
  covered: Type.Boolean({
    description: 'True if a newer override replaces this override for part of the time.',
    examples: [false],
  }),
  comment: Type.String({ examples: ['swapped with Anna'] }),
  createdBy: Type.String({ description: 'A user, or `key:NAME`.', examples: ['admin'] }),
  createdAt: ShiftTime,
  version: Type.Integer({ description: 'Version, as in the `ETag`.', examples: [12] }),
});
export type DutyOverride = Static<typeof DutyOverride>;

export const NewDutyOverride = defineShape('NewDutyOverride', {
  rotation,
  member: Type.String({
    ...member,
    description: 'Member to put on call instead: a user, or in rotations of destinations a member of any rotation.',
  }),
  startsAt: Type.Optional(givenTime('Start, RFC 3339 with offset; now by default.')),
  endsAt: givenTime('End, RFC 3339 with offset.'),
  inReturn: Type.Optional(
    Type.Object(
      {
        startsAt: givenTime('Start, RFC 3339 with offset.'),
        endsAt: givenTime('End, RFC 3339 with offset.'),
      },
      { description: 'For a swap: shift of `member` that the replaced person takes in return.' },
    ),
  ),
  comment: Type.Optional(
    Type.String({ maxLength: longestComment, description: 'Reason.', examples: ['swapped with Anna'] }),
  ),
});
export type NewDutyOverride = Static<typeof NewDutyOverride>;

export const DutyOverrideList = defineList(
  'DutyOverrideList',
  'Overrides',
  DutyOverride,
  'Newest first, including ended overrides. Where overrides overlap, the newest applies.',
);

export const DutyOverrideParams = Type.Object({ id: Type.String({ description: 'Id of an override.' }) });

export const DutyOverrideQuery = Type.Object({
  rotation: optionalText('Only overrides of this rotation.', 'oncall'),
});

const since = nullable(ShiftTime, 'Start; `null` if unknown.');

const until = nullable(ShiftTime, 'End; `null` if unknown.');

export const OnCall = defineShape('OnCall', {
  rotation,
  kind: Type.Enum(['person', 'destination'], { type: 'string', description: 'Kind of the members.' }),
  member: nullable(member, 'User or destination on call; `null` in a gap.'),
  members: Type.Array(member, { description: 'All members in the order of their shifts.' }),
  startsAt: since,
  endsAt: until,
  override: nullable(DutyOverride, 'Override that put the member on call; `null` for a regular shift.'),
  next: nullable(
    defineShape('NextOnCall', { member, startsAt: ShiftTime }),
    'Next member and the time of the handover; `null` if no handover follows.',
  ),
});
export type OnCall = Static<typeof OnCall>;

export const OnCallList = defineList('OnCallList', 'Rotations', OnCall, 'In the order of the setting `rotations`.');
export type OnCallList = Static<typeof OnCallList>;

export const OnCallQuery = Type.Object({
  at: Type.Optional(givenTime('Time, RFC 3339 with offset; now by default, and within five years of now.')),
});

const OnCallShift = defineShape('OnCallShift', {
  rotation,
  member: nullable(member, '`null` in a gap.'),
  startsAt: since,
  endsAt: until,
  override: nullable(overrideId, 'Id of the override that put the member on call; `null` for a regular shift.'),
});
export type OnCallShift = Static<typeof OnCallShift>;

export const OnCallSchedule = defineList(
  'OnCallSchedule',
  'Shifts',
  OnCallShift,
  'Earliest first; the first shifts may have begun before `from`.',
);

export const OnCallScheduleQuery = Type.Object({
  from: Type.Optional(givenTime('Start, RFC 3339 with offset; now by default, and within five years of now.')),
  to: Type.Optional(givenTime('End; four weeks after `from` by default, at most 400 days after `from`.')),
  rotation: optionalText('Only shifts of this rotation.', 'oncall'),
});

const CalendarEntry = defineShape('CalendarEntry', {
  person: nullable(member, 'User on call, or a destination; `null` in a gap.'),
  layer: nullable(Type.Integer({ examples: [0] }), 'Index of the layer; `null` in a gap and for an override.'),
  override: nullable(overrideId, 'Id of the override that put the person on call.'),
  gap: Type.Boolean({ description: 'True if nobody is on call.', examples: [false] }),
  startsAt: since,
  endsAt: until,
});
export type CalendarEntry = Static<typeof CalendarEntry>;

export const RotationCalendar = defineList(
  'RotationCalendar',
  'Shifts and gaps',
  CalendarEntry,
  'Earliest first; the first and last shifts are listed in full.',
);

export const RotationCalendarQuery = Type.Object({
  from: OnCallScheduleQuery.properties.from,
  until: OnCallScheduleQuery.properties.to,
});
