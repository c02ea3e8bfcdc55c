import { toPerson } from '../../kit/people.ts';
import { toDurationText } from '../../lib/duration.ts';
import { toLocalSecond } from '../../lib/local-time.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';

/** What happened in an incident, as Markdown. */
export const writeReport = (incident: StoredIncident, events: readonly StoredEvent[]): string => {
  const { number, title, state, level, highestLevel, source, hostname, sender, count, firstAt, lastAt } = incident;
  const { acknowledged, resolved, reopened, task, link, about } = incident;
  const facts: [name: string, value: string | null][] = [
    ['State', state],
    ['Level', level === highestLevel ? level : `${level}, at most ${highestLevel}`],
    ['Source', source],
    ['Host', hostname],
    ['About', about],
    ['Sender', sender && toPerson(sender)],
    ['Alerts', String(count)],
    ['First alert', toLocalSecond(firstAt)],
    ['Last alert', toLocalSecond(lastAt)],
    ['Acknowledged', acknowledged && `${toLocalSecond(acknowledged.at)} by ${toPerson(acknowledged.by)}`],
    [
      'Resolved',
      resolved &&
        `${toLocalSecond(resolved.at)} by ${resolved.by === null ? 'nobody: no more alerts came' : toPerson(resolved.by)}`,
    ],
    ['Duration', resolved && toDurationText(resolved.at - firstAt)],
    ['Reopened', reopened > 0 ? `${reopened} times` : null],
    ['Task', task === null ? null : String(task)],
    ['Link', link],
  ];
  const rows = facts.flatMap(([name, value]) => (value ? [`|${name}|${escapeMarks(value)}|`] : []));
  const first = events[0]?.type === 'opened' ? [] : ['Earlier events are no longer kept.', ''];
  return [
    ...[`# Incident #${number}: ${escapeMarks(title)}`, ''],
    ...['|||', '|---|---|', ...rows, ''],
    ...['## Timeline', '', ...first],
    ...events.map((event) => `- ${toLocalSecond(event.at)} ${describeEvent(event)}`),
    '',
  ].join('\n');
};

const describeEvent = (event: StoredEvent): string => {
  const { type, by, level, until, reason, task, destination, what, result, comment } = event;
  const parts = [
    `**${names[type]}**`,
    ...(level ? [level] : []),
    ...(task ? [`task ${task}`] : []),
    ...(what ? [what] : []),
    ...(destination ? [`${escapeMarks(destination)}${result ? `: ${escapeMarks(result)}` : ''}`] : []),
    ...(by ? [`by ${escapeMarks(toPerson(by))}`] : []),
    ...(reason === 'quiet' ? ['because no more alerts came'] : []),
    ...(until === undefined ? [] : [`until ${toLocalSecond(until)}`]),
  ];
  const quoted = comment?.split(/\r\n|[\r\n]/).map((line) => `\n  > ${escapeLine(line)}`) ?? [];
  return parts.join(' ') + quoted.join('');
};

const names: Record<StoredEvent['type'], string> = {
  opened: 'opened',
  raised: 'raised',
  lowered: 'lowered',
  acknowledged: 'acknowledged',
  snoozeEnded: 'acknowledgement ended',
  comment: 'comment',
  silenced: 'silenced',
  notified: 'notified',
  reminder: 'reminder',
  escalated: 'escalated',
  taskCreated: 'task created',
  snapshotTaken: 'snapshot taken',
  resolved: 'resolved',
  reopened: 'reopened',
};

/** Texts of others must not become headings, links, tables or HTML, nor turn the direction of what follows. */
const escapeMarks = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\\`*_{}[\]<>#|~&]/g, (mark) => `\\${mark}`);

/** The same for a whole line: no underline that makes the line before it a heading, no list and no code block. */
const escapeLine = (line: string): string =>
  escapeMarks(line)
    .trimStart()
    .replace(/^(?=[-+=])/, '\\')
    .replace(/^(\d{1,9})(?=[.)])/, '$1\\');
