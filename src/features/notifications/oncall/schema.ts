import Type, { type Static } from 'typebox';
import { defineList, defineShape, nullable, optionalText } from '../../../kit/route.ts';

const longestComment = 4000;

const example = '2036-01-31T08:00:00.000Z';

const ShiftTime = Type.String({ format: 'date-time', examples: [example] });

const givenTime = (description: string) => Type.String({ description, examples: [example] });

const rotation = Type.String({ description: 'Name of a rotation.', examples: ['oncall'] });

const member = Type.String({ description: 'Name of a destination.', examples: ['anna-phone'] });

const overrideId = Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c57'] });

export const DutyOverride = defineShape('DutyOverride', {
  id: overrideId,
  rotation,
  member: Type.String({ ...member, description: 'Who is on duty instead: a member of any rotation.' }),
  startsAt: ShiftTime,
  endsAt: ShiftTime,
  comment: Type.String({ examples: ['swapped with Anna'] }),
  createdBy: Type.String({ description: 'A user, or `key:NAME`.', examples: ['admin'] }),
  createdAt: ShiftTime,
  version: Type.Integer({ description: 'Its version, as the `ETag` has it.', examples: [12] }),
});
export type DutyOverride = Static<typeof DutyOverride>;

export const NewDutyOverride = defineShape('NewDutyOverride', {
  rotation,
  member: Type.String({ ...member, description: 'Who is on duty instead: a member of any rotation.' }),
  startsAt: Type.Optional(givenTime('From when, RFC 3339 with offset; now by default.')),
  endsAt: givenTime('Until when, RFC 3339 with offset.'),
  comment: Type.Optional(
    Type.String({ maxLength: longestComment, description: 'Why.', examples: ['swapped with Anna'] }),
  ),
});
export type NewDutyOverride = Static<typeof NewDutyOverride>;

export const DutyOverrideList = defineList(
  'DutyOverrideList',
  'Overrides',
  DutyOverride,
  'Newest first. Of those that overlap, the newest one counts. Those that have ended are among them.',
);

export const DutyOverrideParams = Type.Object({ id: Type.String({ description: 'Id of an override.' }) });

export const DutyOverrideQuery = Type.Object({
  rotation: optionalText('Only overrides of this rotation.', 'oncall'),
});

const since = nullable(ShiftTime, 'Since when; `null` if it has always been so.');

const until = nullable(ShiftTime, 'Until when; `null` if nobody else follows.');

export const OnCall = defineShape('OnCall', {
  rotation,
  member: Type.String({ ...member, description: 'Who is on duty: the name of a destination.' }),
  members: Type.Array(member, { description: 'All whose turn it is sometimes, in their order.' }),
  startsAt: since,
  endsAt: until,
  override: nullable(DutyOverride, 'The override because of which it is this one; `null` if it is their turn.'),
  next: nullable(
    defineShape('NextOnCall', { member, startsAt: ShiftTime }),
    'Who takes over, and when; `null` if nobody else does.',
  ),
});
export type OnCall = Static<typeof OnCall>;

export const OnCallList = defineList('OnCallList', 'Rotations', OnCall, 'In the order of the setting `rotations`.');
export type OnCallList = Static<typeof OnCallList>;

export const OnCallQuery = Type.Object({
  at: Type.Optional(givenTime('When, RFC 3339 with offset; now by default, and within five years of now.')),
});

const OnCallShift = defineShape('OnCallShift', {
  rotation,
  member,
  startsAt: since,
  endsAt: until,
  override: nullable(overrideId, 'Id of the override because of which it is this one; `null` if it is their turn.'),
});
export type OnCallShift = Static<typeof OnCallShift>;

export const OnCallSchedule = defineList(
  'OnCallSchedule',
  'Shifts',
  OnCallShift,
  'The earliest first; the first ones may have begun before `from`.',
);

export const OnCallScheduleQuery = Type.Object({
  from: Type.Optional(givenTime('From when, RFC 3339 with offset; now by default, and within five years of now.')),
  to: Type.Optional(givenTime('Until when: four weeks after `from` by default, 400 days at the most.')),
  rotation: optionalText('Only this rotation.', 'oncall'),
});
