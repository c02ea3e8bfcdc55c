import { HttpError } from '../../http/errors.ts';
import { pickUsable } from '../../kit/compiled-settings.ts';
import type { PutOptions, RuntimeSetting, SettingStore } from '../../kit/offers.ts';
import { createId } from '../../storage/journal/line.ts';
import type { AppliedOverride, Rotations } from './oncall/rotations.ts';

const kind = 'override';

/** Those that have ended give way. */
const limits: PutOptions = { most: { count: 1000, plural: 'overrides' } };

/** Its value in the settings made at run time. */
interface StoredOverride extends Omit<AppliedOverride, 'id'> {
  comment: string;
  createdBy: string;
}

export type MadeOverride = RuntimeSetting<StoredOverride>;

/** Overrides of rotations, which it tells of them; of those that overlap, the one that was made last counts. */
export class Overrides {
  readonly #settings: SettingStore;
  readonly #rotations: Rotations;
  readonly #clock: () => Date;

  constructor(settings: SettingStore, rotations: Rotations, clock: () => Date) {
    this.#settings = settings;
    this.#rotations = rotations;
    this.#clock = clock;
    settings.onChanged(kind, () => this.#apply());
    this.#apply();
  }

  /** In the order in which they were made. */
  list(): MadeOverride[] {
    return pickUsable(this.#settings, kind, findOverrideProblem);
  }

  find(id: string): MadeOverride | undefined {
    return this.list().find(({ name }) => name === id);
  }

  /** Resolves to the new one. Rejects with an HttpError where it cannot be used, or there are too many. */
  async create(fields: Omit<StoredOverride, 'createdBy'>, by: string): Promise<MadeOverride> {
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
    return this.#settings.put(kind, createId(now), { ...fields, createdBy: by }, by, undefined, limits);
  }

  /** Ends it now; one that has not begun is removed. Resolves to what it was or is. */
  async end(override: MadeOverride, by: string, expected?: readonly number[]): Promise<MadeOverride> {
    const now = this.#clock().getTime();
    const { name, value, version } = override;
    if (value.endsAt <= now) return override;
    if (value.startsAt < now)
      return this.#settings.put(kind, name, { ...value, endsAt: now }, by, expected ?? [version]);
    await this.#settings.delete(kind, name, by, expected);
    return override;
  }

  #apply(): void {
    this.#rotations.setOverrides(this.list().map(({ name, value }) => ({ ...value, id: name })));
  }
}

/** Why a stored override cannot be used: another version may have stored it. */
const findOverrideProblem = ({ value }: MadeOverride): string | undefined => {
  const { rotation, member, comment, createdBy, startsAt, endsAt } = Object(value) as Partial<StoredOverride>;
  if ([rotation, member, comment, createdBy].some((each) => typeof each !== 'string')) {
    return 'rotation, member, comment and createdBy must be texts';
  }
  return [startsAt, endsAt].every(Number.isSafeInteger) ? undefined : 'startsAt and endsAt must be times';
};

const quote = (name: string): string => JSON.stringify(name.slice(0, 100));

const joinNames = (names: readonly string[]): string => names.join(', ') || 'none';
