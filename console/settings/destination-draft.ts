import type { Destination } from 'signalbox/client';
import { severities } from '../../src/kit/severity.ts';
import { readNumber } from '../live/submission.ts';
import { text } from '../strings/index.ts';
import { settingTexts as words } from '../strings/settings.ts';

export type DestinationKind = keyof typeof words.types;
export type FieldName = keyof typeof words.fields;

/** Form state of a destination, with text as typed. */
export interface DestinationDraft {
  name: string;
  type: DestinationKind;
  notify: keyof typeof words.notifies;
  /** Lowest level to send, or `''` for all levels. A comma-separated list if some levels in between are left out. */
  levels: string;
  fields: Partial<Record<FieldName, string>>;
  /** True to delete the stored secrets. */
  isForgotten: boolean;
}

/** Fields required by each type. */
export const destinationFields: Record<DestinationKind, readonly FieldName[]> = {
  webhook: ['url', 'secret'],
  ntfy: ['url', 'secret'],
  gotify: ['url', 'secret'],
  slack: ['url'],
  email: ['url', 'from', 'to', 'user', 'secret'],
  apprise: ['url', 'secret'],
  alertmanager: ['url', 'secret'],
  template: ['url', 'method', 'body', 'token'],
};

/** Lists fields that are rarely used. */
export const listMoreFields = ({ type, notify }: DestinationDraft): FieldName[] => [
  'sources',
  ...(notify === 'incidents' ? (['after', 'repeat', 'hours'] as const) : []),
  ...(type === 'webhook' ? (['token'] as const) : []),
  ...(type === 'webhook' || type === 'template' ? (['headers'] as const) : []),
];

const lists: readonly FieldName[] = ['to', 'sources'];
const numbers: readonly FieldName[] = ['after', 'repeat'];
/** Fields that are never shown. An empty field keeps its stored value. */
export const secretFields: readonly FieldName[] = ['secret', 'token', 'headers'];

export const toDestinationDraft = ({ name, settings }: Destination): DestinationDraft => {
  const shown = Object.entries(settings).filter(([key]) => key in words.fields);
  const fields = Object.fromEntries(shown.map(([key, value]) => [key, [value].flat().join(', ')]));
  return {
    name,
    type: settings.type as DestinationKind,
    notify: settings.notify ?? 'alerts',
    fields,
    levels: (settings.levels ?? []).join(','),
    isForgotten: false,
  };
};

const listWorse = (level: string): string => severities.slice(0, severities.indexOf(level as never) + 1).join(',');

/** Returns the options for levels, including the current value. */
export const listLevels = (present: string): [levels: string, label: string][] => {
  const usual = severities
    .slice(0, -1)
    .toReversed()
    .map((level): [string, string] => {
      const name = text.alerts.severities[level];
      return [listWorse(level), level === severities[0] ? words.only(name) : words.from(name)];
    });
  const all: [string, string][] = [['', words.allLevels], ...usual];
  return all.some(([levels]) => levels === present) ? all : [...all, [present, present]];
};

/** Returns the request body. Settings without a field and unchanged fields keep their values. */
export const toDestinationDefinition = (draft: DestinationDraft, before: Destination | undefined) => {
  const { type, notify, levels, fields, isForgotten } = draft;
  const shown = before ? toDestinationDraft(before).fields : {};
  const changed = [...destinationFields[type], ...listMoreFields(draft)].filter(
    (name) => (fields[name] ?? '') !== (shown[name] ?? ''),
  );
  const others = Object.entries(before?.settings ?? {}).filter(
    ([key]) => key !== 'levels' && !changed.includes(key as FieldName),
  );
  const typed = changed.flatMap((name): [string, unknown][] => {
    const value = fields[name]?.trim() ?? '';
    return value === '' ? [] : [[name, toValue(name, value)]];
  });
  return {
    ...Object.fromEntries(others),
    ...(isForgotten && { headers: {} }),
    ...Object.fromEntries(typed),
    type,
    notify,
    ...(levels !== '' && { levels: levels.split(',') }),
  };
};

const toValue = (name: FieldName, value: string): unknown => {
  if (lists.includes(name)) return value.split(',').map((each) => each.trim());
  if (name === 'headers') return Object.fromEntries(value.split('\n').map(toHeader));
  return numbers.includes(name) ? readNumber(words.fields[name], value) : value;
};

const toHeader = (line: string): [string, string] => {
  const [, name, value] = /^\s*([^:\s]+)\s*:\s*(.*\S)\s*$/.exec(line) ?? [];
  if (!name || !value) throw new Error(words.badHeader(line));
  return [name, value];
};
