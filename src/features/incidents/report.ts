import { ownSender } from '../../kit/alert-record.ts';
import { toEventName } from '../../kit/event-names.ts';
import { toPerson, toTargetName } from '../../kit/people.ts';
import { toDurationText } from '../../lib/duration.ts';
import { toLocalSecond } from '../../lib/local-time.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';

/** Formats the facts and timeline of an incident as Markdown. */
export const writeReport = (incident: StoredIncident, events: readonly StoredEvent[]): string => {
  const { number, title } = incident;
  const rows = listFacts(incident).flatMap(([name, value]) => (value ? [`|${name}|${escapeMarks(value)}|`] : []));
  const lines = [
    `# Incident #${number}: ${escapeMarks(title)}`,
    '',
    '|||',
    '|---|---|',
    ...rows,
    '',
    '## Timeline',
    '',
    ...(events[0]?.type === 'opened' ? [] : ['Earlier events are no longer kept.', '']),
    ...events.map((event) => `- ${toLocalSecond(event.at)} ${describeEvent(event)}`),
    '',
  ];
  return lines.join('\n');
};

const listFacts = (incident: StoredIncident): [name: string, value: string | null][] => {
  const { state, level, highestLevel, source, hostname, sender, count, firstAt, lastAt } = incident;
  const { acknowledged, resolved, reopened, task, link, about } = incident;
  return [
    ['State', state],
    ['Level', level === highestLevel ? level : `${level}, highest level ${highestLevel}`],
    ['Source', source],
    ['Host', hostname],
    ['About', about],
    ['Sender', sender && toPerson(sender)],
    ['Alerts', String(count)],
    ['First alert', toLocalSecond(firstAt)],
    ['Last alert', toLocalSecond(lastAt)],
    ['Acknowledged', acknowledged && `${toLocalSecond(acknowledged.at)} by ${toPerson(acknowledged.by)}`],
    ['Resolved', resolved && describeResolution(resolved)],
    ['Duration', resolved && toDurationText(resolved.at - firstAt)],
    ['Reopened', reopened > 0 ? (reopened === 1 ? 'once' : `${reopened} times`) : null],
    ['Task', task === null ? null : String(task)],
    ['Link', link],
  ];
};

const describeResolution = ({ at, by }: NonNullable<StoredIncident['resolved']>): string =>
  `${toLocalSecond(at)} ${by === null ? 'because no more alerts were received' : `by ${toPerson(by)}`}`;

const describeEvent = (event: StoredEvent): string => {
  const { type, by, level, until, reason, task, destination, what, result, comment, targets, policy, step } = event;
  const parts = [
    `**${toEventName(type)}**`,
    level,
    task && `task ${task}`,
    what,
    destination && `${escapeMarks(destination)}${result ? `: ${escapeMarks(result)}` : ''}`,
    targets && (targets.map((target) => escapeMarks(toTargetName(target))).join(', ') || 'nobody'),
    policy && `by step ${step} of ${escapeMarks(policy)}`,
    by && by !== ownSender && `by ${escapeMarks(toPerson(by))}`,
    reason === 'quiet' && 'because no more alerts were received',
    until !== undefined && `until ${toLocalSecond(until)}`,
  ];
  const quoted = comment?.split(/\r\n|[\r\n]/).map((line) => `\n  > ${escapeLine(line)}`) ?? [];
  return parts.filter(Boolean).join(' ') + quoted.join('');
};

/** Escapes text from users, so that it creates no headings, links, tables or HTML and keeps the text direction. */
const escapeMarks = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\\`*_{}[\]<>#|~&]/g, (mark) => `\\${mark}`);

/** Escapes a whole line, so that it also creates no list, code block or heading underline. */
const escapeLine = (line: string): string =>
  escapeMarks(line)
    .trimStart()
    .replace(/^(?=[-+=])/, '\\')
    .replace(/^(\d{1,9})(?=[.)])/, '$1\\');
