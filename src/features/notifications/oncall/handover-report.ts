import type { SharedIncident } from '../../../kit/incident.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import { rankOf } from '../../../kit/severity.ts';
import type { SharedSilence, SilenceStore } from '../../../kit/silence-source.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { dayMs } from '../../../lib/units.ts';

/** Maximum number of lines in each part of a report. */
const mostLines = 10;

/** Maximum number of notifications that are searched for incidents of the last shift. */
const mostNotifications = 1000;

interface ReportedShift {
  rotation: string;
  /** Unix milliseconds. */
  startsAt: number;
  endsAt: number | undefined;
  /** Start of the previous shift, in Unix milliseconds. */
  since: number;
}

interface ReportSources {
  incidents: Pick<IncidentSource, 'listUnsettled' | 'listSent'>;
  silences: Pick<SilenceStore, 'list'>;
}

/** Writes the report for the person whose shift begins: open incidents, events of the last shift, and silences. */
export const writeHandoverReport = async (
  { rotation, startsAt, endsAt, since }: ReportedShift,
  { incidents, silences }: ReportSources,
): Promise<string> => {
  const active = (await incidents.listUnsettled()).filter(({ state, isOld }) => state !== 'resolved' && !isOld);
  const open = active.toSorted((one, other) => rankOf(one.level) - rankOf(other.level) || one.number - other.number);
  const from = Math.max(since, startsAt - 7 * dayMs);
  const sent = (await incidents.listSent({}, mostNotifications)).filter(({ at }) => at >= from && at < startsAt);
  const numbers = [...new Set(sent.map(({ incident }) => incident.number))].sort((one, other) => one - other);
  const silenced = Array.from(silences.list()).filter(({ state }) => state === 'active');
  return [
    `You are now on call in ${rotation}${endsAt === undefined ? '' : ` until ${toLocalMinute(endsAt)}`}.`,
    ...toPart('No incidents are open.', 'Open incidents:', open.map(describeIncident)),
    numbers.length === 0
      ? `Nobody has been notified since ${toLocalMinute(from)}.`
      : `Notified since ${toLocalMinute(from)}: incidents ${cut(numbers.map((number) => `#${number}`)).join(', ')}.`,
    ...toPart('Nothing is silenced.', 'Silenced:', silenced.map(describeSilence)),
  ].join('\n');
};

const describeIncident = ({ number, level, title, hostname, acknowledged }: SharedIncident): string =>
  [
    `#${number} ${level}`,
    hostname && `${hostname}:`,
    title.slice(0, 200),
    acknowledged && `(acknowledged by ${acknowledged.by})`,
  ]
    .filter(Boolean)
    .join(' ');

const describeSilence = ({ matchers, endsAt, comment }: SharedSilence): string => {
  const matching = matchers.map(
    ({ name, value, isRegex, isEqual }) =>
      `${name}${isEqual ? '=' : '!='}${isRegex ? '~' : ''}${value.replace('(?is)', '')}`,
  );
  const end = Number.isFinite(endsAt) ? ` until ${toLocalMinute(endsAt)}` : '';
  return `${matching.join(', ').slice(0, 200)}${end}${comment && ` (${comment.slice(0, 100)})`}`;
};

const toPart = (none: string, heading: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [none] : [heading, ...cut(lines)];

const cut = (lines: readonly string[]): string[] =>
  lines.length > mostLines ? [...lines.slice(0, mostLines), `and ${lines.length - mostLines} more`] : [...lines];
