import { needs, openFor } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting, SettingStore } from '../../../kit/setting-store.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { AppliedOverride, Rotations } from './rotations.ts';
import { DutyOverride, DutyOverrideParams } from './schema.ts';

/** Its value in the log of settings. */
type StoredOverride = Omit<AppliedOverride, 'id'> & Pick<DutyOverride, 'comment' | 'createdBy'>;

export type KnownOverride = RuntimeSetting<StoredOverride>;

/** Throws an Error for one that cannot be used. */
const compile = (setting: KnownOverride): KnownOverride => {
  const { rotation, member, comment, createdBy, startsAt, endsAt } = Object(setting.value) as Partial<StoredOverride>;
  if ([rotation, member, comment, createdBy].some((each) => typeof each !== 'string')) {
    throw new Error('rotation, member, comment and createdBy must be texts');
  }
  if (![startsAt, endsAt].every(Number.isSafeInteger)) throw new Error('startsAt and endsAt must be times');
  return setting;
};

/** Overrides of rotations are made at run time only, and end instead of being deleted. */
export const overrideKind = defineSettingKind<StoredOverride, KnownOverride>({
  name: 'override',
  noun: 'Override',
  path: '/api/oncall/overrides',
  params: DutyOverrideParams,
  shape: DutyOverride,
  reading: openFor('incidents:read'),
  changing: needs('incidents:write'),
  // Those that have ended give way.
  limits: { count: 1000, plural: 'overrides' },
  order: 'origin',
  compile,
  toLabel: ({ member, rotation }) => `${member} in ${rotation}`,
});

/** Overrides of rotations, which it tells of them; of those that overlap, the one that was made last counts. */
export class Overrides {
  readonly settings: SettingKeeper<StoredOverride, KnownOverride>;
  readonly #rotations: Rotations;
  readonly #clock: () => Date;

  constructor(settings: SettingStore, rotations: Rotations, clock: () => Date) {
    this.settings = new SettingKeeper(overrideKind, { settings });
    this.#rotations = rotations;
    this.#clock = clock;
    this.settings.onChanged(() => this.#apply());
    this.#apply();
  }

  /** Resolves to the new one. Rejects with an HttpError where it cannot be used, or there are too many. */
  async create(fields: Omit<StoredOverride, 'createdBy'>, by: string): Promise<KnownOverride> {
    const now = this.#clock().getTime();
    const { rotation, member, startsAt, endsAt } = fields;
    if (!this.#rotations.find(rotation)) {
      const known = this.#rotations.list().map(({ name }) => name);
      throw new HttpError('invalid', `There is no rotation ${quote(rotation)}; the settings have: ${joinNames(known)}`);
    }
    if (!this.#rotations.members.has(member)) {
      const known = [...this.#rotations.members];
      throw new HttpError(
        'invalid',
        `${quote(member)} is no member of a rotation; the members are: ${joinNames(known)}`,
      );
    }
    if (endsAt <= now) throw new HttpError('invalid', 'endsAt must be in the future');
    if (endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
    return this.settings.put(createId(now), { ...fields, createdBy: by }, by);
  }

  /** Ends it now; one that has not begun is removed. Resolves to what it was or is. */
  async end(override: KnownOverride, by: string, expected?: readonly number[]): Promise<KnownOverride> {
    const now = this.#clock().getTime();
    const { name, value, version } = override;
    if (value.endsAt <= now) return override;
    if (value.startsAt < now) {
      return this.settings.store(name, { ...value, endsAt: now }, by, expected ?? [version], {});
    }
    await this.settings.delete(name, by, expected);
    return override;
  }

  #apply(): void {
    this.#rotations.setOverrides(this.settings.list().map(({ name, value }) => ({ ...value, id: name })));
  }
}

const quote = (name: string): string => JSON.stringify(name.slice(0, 100));

const joinNames = (names: readonly string[]): string => names.join(', ') || 'none';
