import { ownSender, toKnownHost, toText, toTextOrNull, withoutResolvedMark } from '../../kit/alert-record.ts';
import { toSeverity } from '../../kit/severity.ts';
import { shorten } from '../../lib/well-formed.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { type FoldedAlert, overflowProblem, replaceDigits, toSenderGroup, toTrait } from './folded-alert.ts';
import type { StoredIncident } from './incident.ts';

/** Maximum length in characters of the title, `about` and details of an incident. */
const maxTitleLength = 500;
const maxAboutLength = 256;
const maxDetailsLength = 8192;

/** Maximum length in characters of a source and a host name. Native alerts may exceed it. */
const maxNameLength = 256;

type Description = Pick<
  StoredIncident,
  'trait' | 'about' | 'sender' | 'endsBySender' | 'title' | 'source' | 'hostname' | 'labels' | 'link'
>;

/** Returns the members that describe a new incident by its first alert. */
export const describeAlert = ({ record }: FoldedAlert): Description => {
  const trait = toTrait(record);
  const texts = [record['source'], record['hostname'], replaceDigits(toText(record['message']))];
  const about = trait === 'fingerprint' ? toText(record['fingerprint']) : texts.map(toText).filter(Boolean).join(' · ');
  return {
    trait,
    about: shorten(about, maxAboutLength),
    sender: toSenderGroup(record['sender']),
    // Other programs, and signalbox itself, always send resolutions. Senders of native alerts may not.
    endsBySender: trait === 'fingerprint' && (record['format'] !== undefined || record['sender'] === ownSender),
    title: toTitle(record),
    source: toName(record['source']),
    hostname: toName(record['hostname']),
    labels: toLabels(record),
    link: toTextOrNull(record['link']),
  };
};

/** Describes the incident that counts alerts once the maximum number of active incidents is reached. */
export const overflowDescription: Description = {
  trait: 'overflow',
  about: overflowProblem,
  sender: null,
  endsBySender: false,
  title: 'Too many incidents are open: this incident collects all further alerts',
  source: 'signalbox',
  hostname: '',
  labels: null,
  link: null,
};

/**
 * Updates the description of an incident from an alert. Resolutions and acknowledgements are ignored, because they do
 * not describe the problem.
 */
export const updateDescription = (
  incident: StoredIncident,
  { id, record, isResolved, isAcknowledgement }: FoldedAlert,
): void => {
  if (isResolved || isAcknowledgement) return;
  incident.firingAlert = id;
  if (toText(record['message']).trim() !== '') incident.title = toTitle(record);
  if (toText(record['source']) !== '') incident.source = toName(record['source']);
  if (toText(record['hostname']) !== '') incident.hostname = toName(record['hostname']);
  incident.labels = toLabels(record) ?? incident.labels;
  incident.link = toTextOrNull(record['link']) ?? incident.link;
};

/** Returns the labels of an alert. Null if it has none. */
export const toLabels = ({ labels }: StoredRecord): Record<string, string> | null =>
  typeof labels === 'object' && labels !== null && Object.keys(labels).length > 0
    ? (labels as Record<string, string>)
    : null;

const toName = (value: unknown): string => shorten(toText(value), maxNameLength);

const toTitle = (record: StoredRecord): string => {
  const { head } = splitOutput(withoutResolvedMark(toText(record['message'])));
  return shorten(toOneLine(head) || describeOrigin(record), maxTitleLength);
};

const toOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** Returns the title for an alert without a message: `backup on web-1`, or `ERROR alert on web-1` without a source. */
const describeOrigin = ({ source, level, hostname }: StoredRecord): string => {
  const subject = toOneLine(toText(source)) || `${toSeverity(toText(level))} alert`;
  const host = toKnownHost(toOneLine(toText(hostname)));
  return host === '' ? subject : `${subject} on ${host}`;
};

/** Separates a message such as "backup.sh failed:" from the job's output on the lines below. */
const splitOutput = (message: string): { head: string; output: string } => {
  const [, head = message, output = ''] = /^([^\r\n]*\S):[ \t]*(?:\r\n|[\r\n])(.*)$/s.exec(message.trim()) ?? [];
  return { head, output: output.trim() };
};

/** Returns the output in the message of an alert, followed by the details of the alert. Null if there is neither. */
export const toIncidentDetails = (record: StoredRecord | undefined): string | null => {
  const { output } = splitOutput(toText(record?.['message']));
  const text = [output, toText(record?.['details']).trim()].filter(Boolean).join('\n\n');
  return text === '' ? null : shorten(text, maxDetailsLength);
};
