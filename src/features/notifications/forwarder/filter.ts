import { formatOf, readTime, readVia, toText, withoutResolvedMark } from '../../../kit/alert-record.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import { isLike } from '../../../lib/wildcards.ts';
import { readIdTime, type StoredRecord } from '../../../storage/journal/line.ts';
import { isReportOf } from '../queue/failure-reports.ts';
import type { DestinationSettings } from '../settings.ts';

/** Returns true if a destination should get the record's alert. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Creates the filter of a destination. It never accepts imported alerts, because they are old. It never accepts alerts
 * already delivered by `instance`, because they would loop. Nor does it accept silenced alerts or alerts about the
 * destination itself.
 */
export const createAlertFilter = (
  { name, levels, sources, formats }: Omit<DestinationSettings, 'type' | 'url'>,
  instance: string,
  silences: Pick<SilenceSource, 'silencesOf'>,
): Accepts => {
  const wanted = levels?.map((level) => toSeverity(level));
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    !isReportOf(record, instance, name) &&
    !isSilenced(record, silences) &&
    (wanted === undefined || wanted.includes(toFiringSeverity(record))) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

const isSilenced = (record: StoredRecord, silences: Pick<SilenceSource, 'silencesOf'>): boolean => {
  const times = listSentTimes(record);
  if (times.length === 0) return false;
  const { source, hostname, labels } = record;
  const text = withoutResolvedMark(toText(record['message']));
  const subject = {
    source: toText(source),
    hostname: toText(hostname),
    level: toFiringSeverity(record),
    text,
    labels: (labels ?? null) as Record<string, string> | null,
  };
  return times.every((at) => silences.silencesOf(subject, at).length > 0);
};

/**
 * Returns the time at which the record was received. For a resolution, also returns the known receipt times of two
 * resolved alerts: the first and the most severe.
 */
const listSentTimes = (record: StoredRecord): number[] => {
  const { resolves, firingSince } = record;
  const ended = [Date.parse(toText(firingSince)), readIdTime(toText(resolves)) ?? Number.NaN];
  const known = ended.filter((at) => !Number.isNaN(at));
  return known.length > 0 ? known : [readTime(record) ?? []].flat();
};

/** Returns the severity of the firing alert. A resolution then reaches the same destinations. */
const toFiringSeverity = ({ level, status, firingLevel }: StoredRecord): Severity =>
  toSeverity(String(status === 'resolved' && typeof firingLevel === 'string' ? firingLevel : level));
