/** The forms of a date, whether or not there is such a day or time. */
export const dateForm =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<time>\d\d:\d\d)(?<seconds>:\d\d(?:\.\d{1,3})?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** The forms of a date that `parseDate` reads, for messages. */
export const dateForms = 'yyyy-MM-dd or yyyy-MM-ddTHH:mm[:ss[.fff]][Z|±hh:mm]';

/** Reads an ISO 8601 date; one without a zone is in the machine's local time, as in PowerShell. */
export const parseDate = (text: string): Date | undefined => {
  const match = dateForm.exec(text);
  if (!match?.groups) return undefined;
  const { day = '', time = '00:00', seconds = ':00', zone = '' } = match.groups;
  const date = new Date(`${day}T${time}${seconds}${zone}`);
  return Number.isNaN(date.getTime()) || !isDayOfMonth(day) ? undefined : date;
};

/** The engine takes 30 February for 1 March. */
const isDayOfMonth = (day: string): boolean => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
