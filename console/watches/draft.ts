import type { Watch, WatchSettings } from 'signalbox/client';
import { readList, readNumber } from '../live/submission.ts';
import type { Params } from '../router.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { kindGroups, unitOf, unitSizes, type WatchKind, watchFields, watchMetrics } from './kinds.ts';

type OwnField = (typeof watchFields)[keyof typeof watchFields][number];

/** Form state. */
export interface WatchDraft {
  name: string;
  type: WatchKind;
  /** Values by setting. Lists have one entry per line. A checked box has the value `1`. */
  own: Partial<Record<OwnField, string>>;
  limit: string;
  critical: string;
  level: string;
  for: string;
  clear: string;
  every: string;
  retries: string;
  message: string;
  dependsOn: string;
  isEnabled: boolean;
}

const lists: readonly OwnField[] = ['mounts', 'units', 'except'];
const numbers: readonly OwnField[] = ['min', 'max', 'certificateDays', 'port', 'minutes', 'redirects'];

const blank: WatchDraft = {
  name: '',
  type: 'disk',
  own: {},
  limit: '',
  critical: '',
  level: '',
  for: '',
  clear: '',
  every: '',
  retries: '',
  message: '',
  dependsOn: '',
  isEnabled: true,
};

const listTypeFields = (type: WatchKind): readonly OwnField[] =>
  type in watchFields ? watchFields[type as keyof typeof watchFields] : [];

/** Fields of the form for this type. */
export const listFields = ({ type, own }: Pick<WatchDraft, 'type' | 'own'>): readonly OwnField[] =>
  listTypeFields(type).filter((name) => name !== 'minutes' || own.metric === 'count');

/** Returns the type and the metric. Together, they determine the unit. */
export const toMeasured = ({ type, own }: Pick<WatchDraft, 'type' | 'own'>): Pick<WatchSettings, 'type' | 'metric'> => {
  const metric = own.metric ?? watchMetrics[type]?.[0];
  return { type, ...(metric && { metric: metric as NonNullable<WatchSettings['metric']> }) };
};

/** Returns the draft of a new watch, prefilled from the URL, with a name that is not taken. */
export const toNewWatch = (params: Params, known: readonly Watch[]): WatchDraft => {
  const type = Object.values(kindGroups)
    .flat()
    .find((each) => each === params['type']);
  const draft: WatchDraft = { ...blank, type: type ?? 'disk', own: {} };
  for (const field of listFields({ ...draft, own: { metric: params['metric'] ?? '' } })) {
    const value = params[field];
    if (value !== undefined) draft.own[field] = lists.includes(field) ? value.replaceAll(',', '\n') : value;
  }
  const { limit = '', critical = '', for: seconds = '' } = params;
  return {
    ...draft,
    limit: fromUnit(draft, limit),
    critical: fromUnit(draft, critical),
    for: seconds,
    name: type === undefined ? '' : toFreeName(type, known),
  };
};

/** Returns the first name that is not taken. The names of default watches are free. */
const toFreeName = (name: string, known: readonly Watch[]): string => {
  const isTaken = (each: string): boolean => known.some((watch) => watch.name === each && watch.origin !== 'default');
  let number = 1;
  const toName = (): string => (number === 1 ? name : `${name}-${number}`);
  while (isTaken(toName())) number += 1;
  return toName();
};

export const toWatchDraft = (settings: WatchSettings): WatchDraft => {
  const {
    name,
    type,
    limit,
    critical,
    level,
    for: seconds,
    clear,
    every,
    retries,
    message,
    enabled,
    dependsOn = [],
  } = settings;
  const own: WatchDraft['own'] = {};
  for (const field of listFields({ type, own: { metric: settings.metric ?? '' } })) {
    const value = settings[field];
    if (value === undefined) continue;
    own[field] = toTyped(value);
  }
  const toText = (value: number | undefined): string => (value === undefined ? '' : String(value));
  const draft = { ...blank, name, type, own };
  const toLimit = (value: number | undefined): string => fromUnit(draft, toText(value));
  return {
    ...draft,
    limit: toLimit(limit),
    critical: toLimit(critical),
    clear: toLimit(clear),
    level: level ?? '',
    for: toText(seconds),
    every: toText(every),
    retries: toText(retries),
    message: message ?? '',
    dependsOn: dependsOn.join(', '),
    isEnabled: enabled !== false,
  };
};

const sizeOf = (draft: Pick<WatchDraft, 'type' | 'own'>): number =>
  unitSizes[unitOf(toMeasured(draft)) ?? 'number'] ?? 1;

/** Converts a value from the unit of the form to bytes. */
const fromUnit = (draft: Pick<WatchDraft, 'type' | 'own'>, value: string): string =>
  value === '' ? '' : String(Number((Number(value) / sizeOf(draft)).toPrecision(6)));

/**
 * Returns the request body for a draft. `before` has the settings being edited: settings without a field and unchanged
 * fields keep their values. Throws an Error with a message for the user.
 */
export const toSettings = (draft: WatchDraft, before?: WatchSettings): WatchSettings => {
  const { name, type, level, message, isEnabled } = draft;
  if (name.trim() === '') throw new Error(words.noName);
  const names = readList(draft.dependsOn);
  const shown = before && toWatchDraft(before);
  const fields = listFields(draft);
  const readField = (field: OwnField): unknown => {
    const typed = draft.own[field] ?? '';
    if (!fields.includes(field)) return undefined;
    return shown && typed === (shown.own[field] ?? '') ? before[field] : toValue(field, typed);
  };
  const own = Object.fromEntries(listTypeFields(type).map((field) => [field, readField(field)]));
  const hasLimit = unitOf(toMeasured(draft)) !== undefined;
  const readLimit = (key: 'limit' | 'critical' | 'clear', label: string): number | undefined => {
    if (!hasLimit) return undefined;
    if (shown && draft[key] === shown[key] && sizeOf(draft) === sizeOf(shown)) return before[key];
    const value = readNumber(label, draft[key]);
    return value === undefined ? undefined : value * sizeOf(draft);
  };
  const all = {
    ...before,
    name: name.trim(),
    type,
    ...own,
    limit: readLimit('limit', words.limit),
    critical: readLimit('critical', words.criticalField),
    clear: readLimit('clear', words.clear),
    level: level || undefined,
    for: readNumber(words.for, draft.for),
    every: readNumber(words.every, draft.every),
    retries: readNumber(words.retries, draft.retries),
    message: message.trim() || undefined,
    dependsOn: names.length > 0 ? names : undefined,
    enabled: isEnabled ? undefined : false,
  };
  // Removes undefined members.
  return JSON.parse(JSON.stringify(all));
};

type JsonCondition = NonNullable<WatchSettings['json']>[number];

/** Formats a setting for the form. Headers and conditions have one line each. */
const toTyped = (value: NonNullable<WatchSettings[OwnField]>): string => {
  if (typeof value === 'boolean') return value ? '1' : '';
  if (typeof value !== 'object') return String(value);
  if (!Array.isArray(value))
    return Object.entries(value)
      .map((header) => header.join(': '))
      .join('\n');
  return value.map((each) => (typeof each === 'string' ? each : toConditionLine(each))).join('\n');
};

const toConditionLine = ({ pointer, is, value }: JsonCondition): string => `${pointer} ${is} ${JSON.stringify(value)}`;

/**
 * Parses a condition in a line such as `/status = "up"`. A value that is not JSON is text. Throws an Error with a
 * message for the user.
 */
const readCondition = (line: string): JsonCondition => {
  const [, pointer = '', is, value = ''] = /^(\S*)\s+(!=|<=|>=|=|<|>)\s+(.+)$/.exec(line) ?? [];
  if (is === undefined) throw new Error(words.badCondition(line));
  let parsed: unknown = value;
  try {
    parsed = JSON.parse(value);
  } catch {
    // Text without quotes.
  }
  return { pointer, is: is as JsonCondition['is'], value: parsed as JsonCondition['value'] };
};

/** Parses the name and value in a line such as `Accept: text/html`. Throws an Error with a message for the user. */
const readHeader = (line: string): [string, string] => {
  const [, name, value] = /^([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(words.badHeader(line));
  return [name, value];
};

const toValue = (field: OwnField, typed: string): unknown => {
  const value = field === 'password' ? typed : typed.trim();
  if (value === '') return undefined;
  const lines = value.split('\n').flatMap((line) => line.trim() || []);
  if (field === 'headers') return Object.fromEntries(lines.map(readHeader));
  if (field === 'json') return lines.map(readCondition);
  if (field === 'failed' || field === 'tls') return true;
  if (numbers.includes(field)) return readNumber(words.fields[field as keyof typeof words.fields], value);
  if (!lists.includes(field)) return value;
  return lines;
};
