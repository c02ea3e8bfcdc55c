import { needs, openFor } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { type CompiledMatch, compileMatching } from './matchers.ts';
import { Silence, SilenceParams } from './schema.ts';
import type { KnownSilence } from './silence.ts';
import { isStoredSilence, type StoredSilence } from './stored.ts';
import { createWindows, type Windows } from './windows.ts';

/** End of a silence that has no end and whose schedule cannot be read. */
const endOfTime = Date.UTC(9999, 11, 31);

/** Compiles a silence. A silence from another version that cannot be read stays listed until somebody ends it. */
const compile = (setting: RuntimeSetting<StoredSilence>): KnownSilence => {
  const value = isStoredSilence(setting.value) ? setting.value : toUnreadable(setting);
  let problem =
    value === setting.value
      ? undefined
      : 'another version stored the silence in a format that this version cannot read';
  let windows: Windows;
  try {
    windows = createWindows(value);
  } catch (error) {
    problem ??= (error as Error).message;
    windows = createWindows({ startsAt: value.startsAt, endsAt: value.endsAt ?? endOfTime });
  }
  let match: CompiledMatch | undefined;
  return {
    name: setting.name,
    setting: { ...setting, value },
    windows,
    problem,
    match: () => {
      if (problem !== undefined) throw new HttpError('invalid', problem);
      match ??= compileMatching(value.matching);
      return match;
    },
  };
};

const toUnreadable = ({ by, createdAt }: RuntimeSetting): StoredSilence => ({
  matching: { match: {} },
  startsAt: createdAt,
  endsAt: endOfTime,
  comment: '',
  createdBy: by,
});

/** Describes the fields or matchers of a silence for the audit. */
const toLabel = ({ matching }: StoredSilence): string | undefined => {
  const { match, matchers } = matching as {
    match?: Record<string, unknown>;
    matchers?: { name: string; value: string }[];
  };
  const { labels = {}, ...fields } = match ?? {};
  const named = Object.entries({ ...fields, ...(labels as object) }).map(([name, pattern]) => `${name} ${pattern}`);
  const texts = named.length > 0 ? named : (matchers ?? []).map(({ name, value }) => `${name} ${value}`);
  return texts.length > 0 ? texts.join(', ') : undefined;
};

/** Kind of runtime setting for silences. Silences exist only as runtime settings. They are ended instead of deleted. */
export const silenceKind = defineSettingKind<StoredSilence, KnownSilence>({
  name: 'silence',
  noun: 'Silence',
  path: '/api/silences',
  params: SilenceParams,
  shape: Silence,
  reading: openFor('incidents:read'),
  changing: needs('incidents:write'),
  // At the limit, silences that have ended are removed first.
  limits: { count: 10_000, plural: 'silences', advice: 'end some first', characters: 16 * 1024 * 1024 },
  order: 'origin',
  compile,
  findProblem: ({ problem }) => problem,
  toLabel,
});
