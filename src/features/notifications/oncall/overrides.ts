import { needs, openFor } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import type { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../../kit/setting-store.ts';
import { toTimeText } from '../../../kit/time.ts';
import { createId } from '../../../storage/journal/line.ts';
import type { Period } from './layer.ts';
import type { AppliedOverride, Rotation } from './rotation.ts';
import type { Rotations } from './rotations.ts';
import { DutyOverride, DutyOverrideParams } from './schema.ts';

/** Part of an override: a member, and the period during which the member is on call. Times are Unix milliseconds. */
type OverridePart = Pick<AppliedOverride, 'member' | 'startsAt' | 'endsAt'>;

/** Stored form of an override. In a swap, `inReturn` is the part that ends first. */
type StoredOverride = OverridePart &
  Pick<DutyOverride, 'rotation' | 'comment' | 'createdBy'> & { inReturn?: OverridePart };

/** Override in a request. `inReturn` is the period that the replaced person takes over in exchange. */
export type OverrideDraft = Omit<StoredOverride, 'createdBy' | 'inReturn'> & { inReturn?: Period | undefined };

/** Author of a change. Admins and keys may change all shifts. Readers may change only their own. */
export interface OverrideAuthor {
  by: string;
  mayChangeOthers: boolean;
}

export type KnownOverride = RuntimeSetting<StoredOverride>;

/** Compiles a stored override. Throws an Error if it is unusable. */
const compile = (setting: KnownOverride): KnownOverride => {
  const { rotation, comment, createdBy, inReturn, ...part } = Object(setting.value) as Partial<StoredOverride>;
  if ([rotation, comment, createdBy].some((each) => typeof each !== 'string')) {
    throw new Error('rotation, comment and createdBy must be strings');
  }
  for (const { member, startsAt, endsAt } of [part, ...(inReturn ? [inReturn] : [])]) {
    if (typeof member !== 'string') throw new Error('member must be a string');
    if (![startsAt, endsAt].every(Number.isSafeInteger)) throw new Error('startsAt and endsAt must be times');
  }
  return setting;
};

/**
 * Kind of runtime setting for overrides. Overrides exist only as runtime settings. They are ended instead of deleted.
 */
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

export type OverrideKeeper = SettingKeeper<StoredOverride, KnownOverride>;

/** Changes to overrides, checked against their rotations. If several overrides overlap, the newest applies. */
export class Overrides {
  readonly settings: OverrideKeeper;
  readonly #rotations: Rotations;
  readonly #clock: () => Date;

  constructor(settings: OverrideKeeper, rotations: Rotations, clock: () => Date) {
    this.settings = settings;
    this.#rotations = rotations;
    this.#clock = clock;
  }

  /** Creates an override. Rejects with an HttpError if it is unusable or if there are too many. */
  async create({ inReturn, ...draft }: OverrideDraft, author: OverrideAuthor): Promise<KnownOverride> {
    const now = this.#clock().getTime();
    const rotation = this.#requireRotation(draft.rotation);
    this.#assertMember(rotation, draft.member);
    assertPeriod(draft, now);
    const parts = [draft, ...(inReturn ? [this.#toReturn(rotation, draft, inReturn, now)] : [])];
    if (!author.mayChangeOthers) this.#assertOwn(rotation, draft, author.by);
    // The store removes an override once its first part has ended.
    const [last, first] = parts.toSorted((one, other) => other.endsAt - one.endsAt) as [OverridePart, OverridePart?];
    const value = { ...draft, ...last, ...(first && { inReturn: toPart(first) }), createdBy: author.by };
    return this.settings.put(createId(now), value, author.by);
  }

  /** Ends an override now, or deletes it if it has not begun. Resolves to the override. */
  async end(override: KnownOverride, author: OverrideAuthor, expected?: readonly number[]): Promise<KnownOverride> {
    const now = this.#clock().getTime();
    const { name, value, version } = override;
    const { inReturn, ...main } = value;
    const parts = [main, ...(inReturn ? [inReturn] : [])];
    const isOwn = value.createdBy === author.by || parts.some(({ member }) => member === author.by);
    if (!author.mayChangeOthers && !isOwn && this.#rotations.find(value.rotation)?.kind === 'person') throw notOwn();
    if (value.endsAt <= now) return override;
    const [last, first] = parts
      .filter(({ startsAt }) => startsAt < now)
      .map((part) => ({ ...toPart(part), endsAt: Math.min(part.endsAt, now) }));
    if (last) {
      const ended = { ...main, ...last, ...(first && { inReturn: first }) };
      return this.settings.store(name, ended, author.by, expected ?? [version], {});
    }
    await this.settings.delete(name, author.by, expected);
    return override;
  }

  /** Converts an override to its form in responses. */
  show(known: KnownOverride): DutyOverride {
    const { name, value, version, createdAt } = known;
    return {
      id: name,
      rotation: value.rotation,
      ...toShownPart(value),
      inReturn: value.inReturn ? toShownPart(value.inReturn) : null,
      covered: this.#isCovered(known),
      comment: value.comment,
      createdBy: value.createdBy,
      createdAt: toTimeText(createdAt),
      version,
    };
  }

  /** True if a newer override replaces this override for part of the time. */
  #isCovered({ name, value }: KnownOverride): boolean {
    const rotation = this.#rotations.find(value.rotation);
    if (!rotation) return false;
    const all = this.settings.list();
    const newer = all.slice(all.findIndex((each) => each.name === name) + 1);
    return newer.some(
      (each) =>
        each.value.rotation === value.rotation &&
        listParts(each).some(
          (part) =>
            this.#rotations.mayBeOnCall(rotation, part.member) &&
            listParts({ value }).some((own) => part.startsAt < own.endsAt && own.startsAt < part.endsAt),
        ),
    );
  }

  #requireRotation(name: string): Rotation {
    const rotation = this.#rotations.find(name);
    if (rotation) return rotation;
    const known = this.#rotations.list().map((each) => each.name);
    throw new HttpError('invalid', `There is no rotation ${quote(name)}; the rotations are: ${joinNames(known)}`);
  }

  #assertMember(rotation: Rotation, member: string): void {
    if (this.#rotations.mayBeOnCall(rotation, member)) return;
    if (rotation.kind === 'person') throw new HttpError('invalid', `There is no user ${quote(member)}`);
    const known = [...this.#rotations.members];
    throw new HttpError(
      'invalid',
      `${quote(member)} is not a member of a rotation; the members are: ${joinNames(known)}`,
    );
  }

  /**
   * Returns the part of a swap that the replaced person takes over. Throws an HttpError if that part is not possible.
   */
  #toReturn(rotation: Rotation, { member, ...given }: OverridePart, inReturn: Period, now: number): OverridePart {
    assertPeriod(inReturn, now);
    const [replaced, ...others] = rotation.listMembers(given.startsAt, given.endsAt);
    if (replaced === undefined || others.length > 0 || replaced === member) {
      throw new HttpError('invalid', 'You can swap only a period in which exactly one other person is on call');
    }
    if (rotation.listMembers(inReturn.startsAt, inReturn.endsAt).some((each) => each !== member)) {
      throw new HttpError('invalid', `inReturn must be a period in which ${quote(member)} is on call`);
    }
    return { member: replaced, ...inReturn };
  }

  /** Throws an HttpError unless the author takes over a shift, or gives away a shift of their own. */
  #assertOwn(rotation: Rotation, { member, startsAt, endsAt }: OverridePart, by: string): void {
    const isOwn = member === by || rotation.listMembers(startsAt, endsAt).every((each) => each === by);
    if (rotation.kind === 'person' && !isOwn) throw notOwn();
  }
}

/** Lists the stored overrides as rotations apply them, oldest first. A swap has two parts. */
export const listApplied = (keeper: OverrideKeeper): AppliedOverride[] =>
  keeper
    .list()
    .flatMap((known) => listParts(known).map((part) => ({ ...part, id: known.name, rotation: known.value.rotation })));

/** Returns the parts of an override. A swap has two. */
const listParts = ({ value: { inReturn, ...part } }: Pick<KnownOverride, 'value'>): OverridePart[] =>
  [part, ...(inReturn ? [inReturn] : [])].map(toPart);

const toShownPart = ({ member, startsAt, endsAt }: OverridePart) => ({
  member,
  startsAt: toTimeText(startsAt),
  endsAt: toTimeText(endsAt),
});

const toPart = ({ member, startsAt, endsAt }: OverridePart): OverridePart => ({ member, startsAt, endsAt });

/** @throws HttpError if the period is invalid */
const assertPeriod = ({ startsAt, endsAt }: Period, now: number): void => {
  if (endsAt <= now) throw new HttpError('invalid', 'endsAt must be in the future');
  if (endsAt <= startsAt) throw new HttpError('invalid', 'endsAt must be after startsAt');
};

const notOwn = (): HttpError =>
  new HttpError(
    'forbidden',
    'Only Admins can change the shifts of other people. You can take over a shift yourself, or give away your own shift',
  );

const quote = (name: string): string => JSON.stringify(name.slice(0, 100));

const joinNames = (names: readonly string[]): string => names.join(', ') || 'none';
