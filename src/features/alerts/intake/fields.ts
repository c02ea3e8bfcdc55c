import { unknownHost } from '../../../kit/alert-record.ts';
import { findSeverity, type Severity } from '../../../kit/severity.ts';
import { clean } from './clean-text.ts';

/** Returns the first non-blank string, or an empty string. */
export const firstText = (...values: unknown[]): string =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? '';

/** Converts a string, number or boolean to a string, and any other value to an empty string. */
export const toScalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Joins a prefix and the first non-blank text: `alertmanager/HostDown`. */
export const toSource = (prefix: string, ...values: unknown[]): string => {
  const name = firstText(...values);
  return name === '' ? prefix : `${prefix}/${name}`;
};

/** Returns the severity from the first value that names a severity. */
export const findFirstSeverity = (...values: unknown[]): Severity | undefined => {
  for (const value of values) {
    const severity = typeof value === 'string' ? findSeverity(value) : undefined;
    if (severity) return severity;
  }
  return undefined;
};

/**
 * Returns the severity for an OpenTelemetry number from 1 to 24. Trace, debug, info, warn, error and fatal have four
 * numbers each.
 */
export const findNumberedSeverity = (value: unknown): Severity | undefined => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > 24) return undefined;
  const levels: readonly Severity[] = ['INFO', 'INFO', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];
  return levels[Math.floor((number - 1) / 4)];
};

/** Lists the labels or other fields that name a level, most specific first. */
export const listSeverityNames = (fields: Record<string, unknown>): unknown[] => [
  fields['severity'],
  fields['level'],
  fields['priority'],
];

/** Lists the labels or other fields that name a host, most specific first. */
export const listHostFields = (fields: Record<string, unknown>): unknown[] => [
  fields['hostname'],
  fields['host'],
  fields['node'],
  fields['nodename'],
  fields['instance'],
];

/** Returns the first host among the values: `web-1` from `web-1:9100`, `::1` from `[::1]:9100` or `http://[::1]/x`. */
export const toHostname = (...values: unknown[]): string => {
  for (const value of values) {
    const host = typeof value === 'string' ? readHost(value.trim()) : '';
    if (host !== '') return host;
  }
  return unknownHost;
};

const readHost = (text: string): string => {
  const authority = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? (tryUrl(text)?.host ?? '') : text;
  return /^\[(.+)\](?::\d*)?$/.exec(authority)?.[1] ?? /^([^:]*):\d*$/.exec(authority)?.[1] ?? authority;
};

const tryUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** Returns the first non-blank text that differs from the message. */
export const findDetails = (message: string, ...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '' && value !== message);

const labelLimits = { count: 64, name: 128, value: 1024, total: 16_384 };

/**
 * Converts strings, numbers and booleans to labels. Limits the number of labels, because some senders share labels
 * across many alerts.
 */
export const toAlertLabels = (fields: Record<string, unknown>): Record<string, string> => {
  const labels: [string, string][] = [];
  let total = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const label: [string, string] = [clean(name, labelLimits.name), clean(String(value), labelLimits.value)];
    total += label[0].length + label[1].length;
    if (labels.length === labelLimits.count || total > labelLimits.total) break;
    labels.push(label);
  }
  return Object.fromEntries(labels);
};
