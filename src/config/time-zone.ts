import type { Settings } from './schema.ts';

/** The usual spelling of a time zone's name; undefined for an unknown one, and for an offset. */
export const findTimeZone = (name: string): string | undefined => {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** Makes the setting `timeZone` that of the process. */
export const applyTimeZone = ({ timeZone }: Pick<Settings, 'timeZone'>): void => {
  if (timeZone !== undefined) process.env['TZ'] = findTimeZone(timeZone);
};
