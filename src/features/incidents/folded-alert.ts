import { hash } from 'node:crypto';
import { isResolvable, readTime, toText, withoutResolvedMark } from '../../kit/alert-record.ts';
import { type Severity, toSeverity } from '../../kit/severity.ts';
import { createIdOf, readIdTime, type StoredRecord } from '../../storage/journal/line.ts';

/** Key of the incident that counts alerts once the maximum number of active incidents is reached. */
export const overflowProblem = 'overflow';

/** Maximum length of a key in characters. Longer keys are hashed. */
const maxKeyLength = 160;

/** Alert as folded into incidents. */
export interface FoldedAlert {
  seq: number;
  id: string;
  /** Unix milliseconds. */
  at: number;
  key: string;
  severity: Severity;
  isResolved: boolean;
  isAcknowledgement: boolean;
  record: StoredRecord;
}

export const toFoldedAlert = (record: StoredRecord): FoldedAlert => ({
  seq: record.seq,
  id: record.id,
  at: readTime(record) ?? readIdTime(record.id) ?? 0,
  key: toProblemId(record),
  severity: toSeverity(toText(record['level'])),
  isResolved: record['status'] === 'resolved',
  isAcknowledgement: record['acknowledges'] === true,
  record,
});

/**
 * Returns the key shared by all alerts of an incident. The key includes the sender, so that no sender can change the
 * incidents of another.
 */
export const toProblemId = (record: StoredRecord): string => {
  const { format, source, hostname } = record;
  const sender = toSenderGroup(record['sender']);
  return toTrait(record) === 'fingerprint'
    ? toKey([sender, format ?? null, record['fingerprint']])
    : toKey([sender, null, source, hostname, replaceDigits(toMessage(record))]);
};

/** Returns the basis of the key: the fingerprint of the alert, or its text fields. */
export const toTrait = (record: StoredRecord): 'fingerprint' | 'texts' =>
  isResolvable(record) ? 'fingerprint' : 'texts';

/** Returns the key or user that sent an alert. Null for clients without a credential, and for lines of version 1.0. */
export const toSenderGroup = (sender: unknown): string | null =>
  typeof sender === 'string' && !sender.startsWith('address:') ? sender : null;

const toMessage = ({ format, status, message }: StoredRecord): string =>
  format !== undefined && status === 'resolved' ? withoutResolvedMark(toText(message)) : toText(message);

/** Replaces digits. As a result, "/var is 86 % full" equals "/var is 87 % full". */
export const replaceDigits = (message: string): string => message.replaceAll(/\d+/g, '#');

/** Joins strings into a key. Short keys are not hashed, to save time. */
const toKey = (texts: readonly unknown[]): string => {
  const json = JSON.stringify(texts);
  return json.length <= maxKeyLength ? json : hash('sha256', json, 'base64url');
};

/**
 * Returns the id of the incident that an alert opens. The id contains the time of the alert and is the same in every
 * replay.
 */
export const toIncidentId = ({ id, at }: FoldedAlert): string =>
  createIdOf(at, hash('sha256', `incident ${id}`, 'hex'));
