import { needs, openFor } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting, SettingStore } from '../../../kit/setting-store.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { AppliedOverride } from './rotation.ts';
import type { Rotations } from './rotations.ts';
import { DutyOverride, DutyOverrideParams } from './schema.ts';

/** Stored form of an override. */
type StoredOverride = Omit<AppliedOverride, 'id'> & Pick<DutyOverride, 'comment' | 'createdBy'>;

export type KnownOverride = RuntimeSetting<StoredOverride>;

/** Throws an Error for an unusable override. */
const compile = (setting: KnownOverride): KnownOverride => {
  const { rotation, member, comment, createdBy, startsAt, endsAt } = Object(setting.value) as Partial<StoredOverride>;
  if ([rotation, member, comment, createdBy].some((each) => typeof each !== 'string')) {
    throw new Error('rotation, member, comment and createdBy must be texts');
  }
  if (![startsAt, endsAt].every(Number.isSafeInteger)) throw new Error('startsAt and endsAt must be times');
  return setting;
};

/** Overrides exist only as runtime settings, and are ended rather than deleted. */
export const overrideKind = defineSettingKind<StoredOverride, KnownOverride>({
  name: 'override',
  noun: 'Override',
  path: '/api/oncall/overrides',
  params: DutyOverrideParams,
  shape: DutyOverride,
  reading: openFor('incidents:read'),
  changing: needs('incidents:write'),
  // Ended overrides make room for new ones.
  limits: { count: 1000, plural: 'overrides' },
  order: 'origin',
  compile,
  toLabel: ({ member, rotation }) => `${member} in ${rotation}`,
});

/** Overrides applied to their rotations. Of overlapping overrides, the newest one counts. */
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

  /** Creates an override. Rejects with an HttpError if it is unusable or there are too many. */
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
        `${quote(member)} is not a member of a rotation; the members are: ${joinNames(known)}`,
      );
    }
    if (endsAt <= now) throw new HttpError('invalid', 'endsAt must be in the future');
    if (endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
    return this.settings.put(createId(now), { ...fields, createdBy: by }, by);
  }

  /** Ends an override now, or deletes it if it has not begun. Resolves to the override. */
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
