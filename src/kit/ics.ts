/** iCalendar writer, loaded with the first request for a calendar. */
export { ICalAlarmType, ICalCalendar } from 'ical-generator';
