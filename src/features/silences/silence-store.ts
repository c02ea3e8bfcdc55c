import { isDeepStrictEqual } from 'node:util';
import { HttpError } from '../../http/errors.ts';
import type { GivenSilence, InhibitRule, SharedSilence, SilenceStore } from '../../kit/silence-source.ts';
import type { SilenceKeeper } from './keeper.ts';
import { createLabelFilter, Subject, toMatchers } from './matchers.ts';
import { type KnownSilence, stateOf } from './silence.ts';
import type { StoredSilence } from './stored.ts';

/** Offers silences to other features in Alertmanager's form. Includes silences that were created with `match`. */
export const createSilenceStore = (
  keeper: SilenceKeeper,
  listInhibitRules: () => readonly InhibitRule[],
  clock: () => Date,
): SilenceStore => {
  const now = (): number => clock().getTime();
  const create = async (given: GivenSilence, by: string): Promise<string> => {
    const { name } = await keeper.create(toStored(given, by, now()), by);
    return name;
  };
  return {
    silencesOf: (subject, at) => keeper.silencesOf(subject, at),
    isMaintained: (subject, at) => keeper.isMaintained(subject, at),
    nextChangeAfter: (at) => keeper.nextChangeAfter(at),
    onChanged: (listener) => keeper.settings.onChanged(listener),
    *list() {
      for (const silence of keeper.list()) yield toShared(silence, now());
    },
    find: (id) => {
      const silence = keeper.find(id);
      return silence && toShared(silence, now());
    },
    create,
    replace: async (id, given, by) => {
      const silence = keeper.find(id);
      if (!silence) return undefined;
      const { name, value } = silence.setting;
      const shown = toShared(silence, now());
      if (isSame(shown, given)) {
        const { comment, createdBy: author } = given;
        const endsAt = value.recurring ? value.endsAt : toEnd(given, now());
        if (value.recurring && given.endsAt !== shown.endsAt) {
          throw new HttpError(
            'wrong-state',
            `The silence has a schedule: change the silence with PUT /api/silences/${name}`,
          );
        }
        await keeper.replace(name, { ...value, endsAt, comment, author }, by);
        return name;
      }
      const created = await create(given, by);
      if (shown.state !== 'expired') await keeper.expire(silence, by);
      return created;
    },
    listMaintenance: (subjects, from, until) => keeper.listMaintenance(subjects, from, until),
    end: async (id, by) => {
      const silence = keeper.find(id);
      if (!silence) return false;
      if (silence.windows.findAt(now())) await keeper.expire(silence, by);
      return true;
    },
    listInhibitRules,
    labelsOf: (subject) => new Subject(subject).labels,
    createFilter: createLabelFilter,
  };
};

const toShared = ({ setting, windows }: KnownSilence, at: number): SharedSilence => {
  const { name, value, at: updatedAt } = setting;
  const { matching, comment, author, createdBy } = value;
  const window = windows.findAt(at);
  // A recurring silence can end long after its last window.
  const { startsAt, endsAt } = (value.recurring && window) || value;
  return {
    id: name,
    state: stateOf(window, at),
    matchers: toMatchers(matching),
    startsAt,
    endsAt: endsAt ?? updatedAt,
    comment,
    createdBy: author ?? createdBy,
    updatedAt,
  };
};

/** True if the silence has not expired and differs only in end, comment and author. */
const isSame = (shown: SharedSilence, { matchers, startsAt }: GivenSilence): boolean =>
  shown.state !== 'expired' && shown.startsAt === startsAt && isDeepStrictEqual(shown.matchers, matchers);

const toEnd = ({ endsAt }: GivenSilence, now: number): number => {
  if (endsAt > now) return endsAt;
  throw new HttpError('invalid', 'endsAt must be in the future');
};

/** Converts a silence to its stored form. A start in the past becomes the current time. */
const toStored = (given: GivenSilence, by: string, now: number): StoredSilence => {
  const { matchers, comment, createdBy: author } = given;
  const startsAt = Math.max(given.startsAt, now);
  const endsAt = toEnd(given, now);
  if (endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
  return { matching: { matchers }, startsAt, endsAt, comment, createdBy: by, author };
};
