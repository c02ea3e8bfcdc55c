import { counted } from './count.ts';

export const availabilityTexts = {
  title: 'Availability',
  percent: (value: string) => `${value} %`,
  noReading: 'Not checked yet',
  ofDays: 'of the last 90 days',
  rule: 'Up ÷ (up + down). Maintenance and unknown times do not count.',
  unknown: (share: string) => `Unknown: ${share} %.`,
  maintenance: (share: string) => `Maintenance: ${share} %.`,
  day: (day: string, share: string, down: string) => `${day}: ${share}${down}`,
  down: (time: string) => `, down ${time}`,
  bar: 'Availability by day',
  today: 'Today',
  looks: {
    up: (count: string) => `${counted(count, 'day')} up`,
    some: (count: string) => `${counted(count, 'day')} down for an hour or less`,
    down: (count: string) => `${counted(count, 'day')} down for more than an hour`,
    maintenance: (count: string) => `${counted(count, 'day')} in maintenance`,
    unknown: (count: string) => `${counted(count, 'day')} unknown`,
  },
  unknownDay: 'unknown',
  maintenanceDay: 'maintenance',
  outages: (count: string) => counted(count, 'outage'),
  latest: (count: string) => `(the latest ${count})`,
  now: 'until now',
  several: (count: string) => `${count} outages merged`,
};
