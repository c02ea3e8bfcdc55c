import fc from 'fast-check';
import { readHostileLines } from '../../../commands/support/hostile-lines.ts';
import { passwords } from '../../../support/app.ts';
import { type Hints, text } from './values.ts';

const hostileLines = readHostileLines()
  .map(({ line }) => line)
  .filter((line) => line !== '' && line.length < 400);

/** Commands that read little and start no process. */
const quickLines = [
  'Get-Process -Id 1',
  'Get-Process -Name no-such-process-*',
  'Get-CimInstance Win32_OperatingSystem -Property Caption',
  'Get-CimInstance -ClassName Win32_ComputerSystem -KeyOnly',
];

/** Commands that run system programs. */
const slowLines = ['Get-Service -Name ssh*', 'Get-EventLog System -Newest 1'];

/**
 * Meaningful strings for fields whose schema is only a string. User names are rare, because checking passwords is slow.
 */
export const hints: Hints = {
  command: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...hostileLines) },
    { weight: 10, arbitrary: text.map((word) => `Get-Process -Name ${word}`) },
    { weight: 10, arbitrary: text },
    { weight: 30, arbitrary: fc.constantFrom(...quickLines) },
    { weight: 1, arbitrary: fc.constantFrom(...slowLines) },
  ),
  Username: fc.oneof({ weight: 40, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom('admin', 'reader') }),
  Password: fc.oneof(text, fc.constantFrom(passwords.admin, passwords.reader, 'x'.repeat(129))),
  status: fc.constantFrom('Pending', 'Completed', 'pending', 'x', ''),
  priority: fc.constantFrom('Low', 'Critical', 'low', ''),
  level: fc.oneof(fc.constantFrom('ERROR', 'INFO'), text),
  since: fc.constantFrom('2026-01-31T09:30:00Z', '2026-11-01T00:00:00+14:00', ''),
  until: fc.constantFrom('2999-01-01T00:00:00Z', '2027-12-31T23:59:59-12:00', ''),
  startsAt: fc.constantFrom('2026-01-31T09:30:00Z', '0001-01-01T00:00:00Z', '2100-01-01T00:00:00Z', ''),
  endsAt: fc.constantFrom('2999-01-01T00:00:00Z', '2099-12-31T23:59:59-12:00', '2020-01-01T00:00:00Z', ''),
  schedule: fc.oneof(fc.constantFrom('0 2 * * 6', '* * * * *', '0 0 30 2 *'), text),
  timeZone: fc.oneof(fc.constantFrom('UTC', 'Europe/Berlin'), text),
};
