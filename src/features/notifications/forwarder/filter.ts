import { formatOf, readTime, readVia, toText, withoutResolvedMark } from '../../../kit/alert-record.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import type { SilenceSource } from '../../../kit/silence-source.ts';
import { isLike } from '../../../lib/wildcards.ts';
import { readIdTime, type StoredRecord } from '../../../storage/journal/line.ts';
import { isReportOf } from '../queue/failure-reports.ts';
import type { DestinationSettings } from '../settings.ts';

/** Whether a destination gets the alert of a record. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Accepts what the filter names, except alerts that `instance` has delivered before, which would go round in circles, those
 * that were imported, which are old, those about the destination itself, and those that were received under a silence.
 */
export const createAlertFilter = (
  { name, levels, sources, formats }: Omit<DestinationSettings, 'type' | 'url'>,
  instance: string,
  silences?: SilenceSource,
): Accepts => {
  const wanted = levels?.map((level) => toSeverity(level));
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    !isReportOf(record, instance, name) &&
    !isSilenced(record, silences) &&
    (wanted === undefined || wanted.includes(severityOf(record))) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

const isSilenced = (record: StoredRecord, silences: SilenceSource | undefined): boolean => {
  const times = listSentTimes(record);
  if (!silences || times.length === 0) return false;
  const { source, hostname, labels } = record;
  const text = withoutResolvedMark(toText(record['message']));
  const subject = {
    source: toText(source),
    hostname: toText(hostname),
    level: severityOf(record),
    text,
    labels: (labels ?? null) as Record<string, string> | null,
  };
  return times.every((at) => silences.silencesOf(subject, at).length > 0);
};

/** When alerts that say this were received: of a resolution the first and the worst of those that it ends, if they are known. */
const listSentTimes = (record: StoredRecord): number[] => {
  const { resolves, firingSince } = record;
  const ended = [Date.parse(toText(firingSince)), readIdTime(toText(resolves)) ?? Number.NaN];
  const known = ended.filter((at) => !Number.isNaN(at));
  return known.length > 0 ? known : [readTime(record) ?? []].flat();
};

/** A resolved alert goes where the firing one went, which may have been more severe. */
const severityOf = ({ level, status, firingLevel }: StoredRecord): Severity =>
  toSeverity(String(status === 'resolved' && typeof firingLevel === 'string' ? firingLevel : level));
