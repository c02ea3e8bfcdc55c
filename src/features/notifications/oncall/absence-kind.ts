import Type, { type Static } from 'typebox';
import { needs } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import { defineSettingKind } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { defineShape, nullable } from '../../../kit/shape.ts';
import { Time } from '../../../kit/time.ts';

/** Stored form: the address of a person's calendar. The address is often secret. */
export interface StoredAbsences {
  url: string;
}

/** Calendar of a person. */
export interface KnownAbsences extends StoredAbsences {
  name: string;
  setting: RuntimeSetting<StoredAbsences>;
}

/** Parses the address of a calendar. Throws an HttpError if the address is invalid. */
export const parseCalendarUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && text.length <= 2000) return url;
  throw new HttpError('invalid', 'url must be the https address of a calendar');
};

/** Compiles a stored address. Throws an Error if it is unusable. */
const compile = (setting: RuntimeSetting<StoredAbsences>): KnownAbsences => {
  const { url } = Object(setting.value) as Partial<StoredAbsences>;
  return { name: setting.name, url: parseCalendarUrl(String(url)).href, setting };
};

export const AbsenceCalendar = defineShape('AbsenceCalendar', {
  url: Type.String({
    description: 'Scheme and host; the path may be secret.',
    examples: ['https://cal.example.org/***'],
  }),
  readAt: nullable(Time, 'Time of the last reading; calendars are read once an hour.'),
  absences: Type.Integer({ description: 'Absences in the next 90 days.', examples: [2] }),
  problem: nullable(Type.String({ examples: ['the server responded 404'] }), 'Reason why the last reading failed.'),
  version: Type.Integer({ examples: [12] }),
});
export type AbsenceCalendar = Static<typeof AbsenceCalendar>;

/** Kind of runtime setting for the addresses of people's absence calendars. */
export const absenceKind = defineSettingKind<StoredAbsences, KnownAbsences>({
  name: 'absence-calendar',
  noun: 'Absence calendar',
  path: '/api/people/{person}/absences',
  params: Type.Object({ person: Type.String({ description: 'A user; `me` for yourself.' }) }),
  shape: AbsenceCalendar,
  reading: needs('account:own'),
  changing: needs('account:own'),
  limits: { count: 1000, plural: 'absence calendars' },
  order: 'name',
  compile,
});
