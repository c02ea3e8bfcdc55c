import { counted } from './count.ts';

export const availabilityTexts = {
  title: 'Availability',
  percent: (value: string) => `${value} %`,
  noReading: 'Nobody looked yet',
  ofDays: 'of the last 90 days',
  rule: 'Up ÷ (up + down). Maintenance and unknown times do not count.',
  unknown: (share: string) => `Unknown: ${share} %.`,
  maintenance: (share: string) => `Maintenance: ${share} %.`,
  day: (day: string, share: string, down: string) => `${day}: ${share}${down}`,
  down: (time: string) => `, down ${time}`,
  unknownDay: 'unknown',
  maintenanceDay: 'maintenance',
  outages: (count: string) => counted(count, 'outage'),
  now: 'until now',
  several: (count: string) => `${count} outages merged`,
};
