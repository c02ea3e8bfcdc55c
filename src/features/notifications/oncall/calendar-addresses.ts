import { createHash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { needs } from '../../../auth/access.ts';
import { HttpError } from '../../../http/errors.ts';
import { joinTarget } from '../../../kit/people.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../../kit/setting-kind.ts';
import type { RuntimeSetting, SettingStore } from '../../../kit/setting-store.ts';
import { defineShape } from '../../../kit/shape.ts';
import { Time, toTimeText } from '../../../kit/time.ts';
import { createId } from '../../../storage/journal/line.ts';
import { deleteOwned, isSameUser } from '../people/removal.ts';

/** Number of random bytes in a secret. As text, the secret has 43 characters. */
const secretBytes = 32;

/** Stored form: the hash of the secret, never the secret itself. */
interface StoredAddress {
  /** Owner: `person:anna` or `rotation:ops`. */
  of: string;
  sha256: string;
  createdBy: string;
}

export type KnownAddress = RuntimeSetting<StoredAddress>;

export const CalendarAddress = defineShape('CalendarAddress', {
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c57'] }),
  createdBy: Type.String({ examples: ['anna'] }),
  createdAt: Time,
});

export const NewCalendarAddress = defineShape('NewCalendarAddress', {
  ...CalendarAddress.properties,
  path: Type.String({
    description: 'Secret path of the calendar on this server; no other response contains the path.',
    examples: ['/oncall/Zb0Gq3lT1sX8vN5cR7yK2mW4pD6hJ9fA0uE1iO2tL3Q.ics'],
  }),
});
type NewCalendarAddress = Static<typeof NewCalendarAddress>;

/** Maximum number of addresses per creator. Keeps a single user from using up the total. */
const mostEach = 50;

/** Compiles a stored address. Throws an Error if it is unusable. */
const compile = (setting: KnownAddress): KnownAddress => {
  const { of, sha256, createdBy } = Object(setting.value) as Partial<StoredAddress>;
  if ([of, sha256, createdBy].every((each) => typeof each === 'string')) return setting;
  throw new Error('sha256, createdBy and of must be strings');
};

/** Kind of runtime setting for secret calendar addresses. Its routes are below people and rotations. */
const addressKind = defineSettingKind<StoredAddress, KnownAddress>({
  name: 'calendar-address',
  noun: 'Calendar address',
  path: '/api/people/{person}/calendar',
  params: Type.Object({ address: Type.String({ description: 'Id of an address.' }) }),
  shape: CalendarAddress,
  reading: needs('account:own'),
  changing: needs('account:own'),
  limits: { count: 1000, plural: 'calendar addresses' },
  order: 'origin',
  compile,
  toLabel: ({ of }) => of,
});

/** Secret addresses for the calendars of people and rotations. */
export class CalendarAddresses {
  readonly #settings: SettingKeeper<StoredAddress, KnownAddress>;
  readonly #clock: () => Date;

  constructor(settings: SettingStore, clock: () => Date) {
    this.#settings = new SettingKeeper(addressKind, { settings });
    this.#clock = clock;
  }

  /** Lists the addresses of a person or rotation, oldest first. */
  list(of: string): KnownAddress[] {
    return this.#settings.list().filter(({ value }) => value.of === of);
  }

  /** Creates an address. Resolves to the only response that contains its secret. */
  async create(of: string, by: string): Promise<NewCalendarAddress> {
    if (this.#settings.list().filter(({ value }) => value.createdBy === by).length >= mostEach) {
      throw new HttpError('wrong-state', `A user can create at most ${mostEach} calendar addresses: delete one first`);
    }
    const secret = randomBytes(secretBytes).toString('base64url');
    const value = { of, sha256: toHash(secret), createdBy: by };
    const created = await this.#settings.put(createId(this.#clock().getTime()), value, by);
    return { ...toShownAddress(created), path: `/oncall/${secret}.ics` };
  }

  async revoke(address: KnownAddress, by: string): Promise<void> {
    await this.#settings.delete(address.name, by);
  }

  /**
   * Revokes the addresses of the calendars with a user's shifts. Also revokes addresses that the user created and still
   * knows.
   */
  async deleteOf(user: string, by: string): Promise<void> {
    const isOwned = (value: StoredAddress): boolean =>
      isSameUser(value.createdBy, user) || isSameUser(value.of, joinTarget('person', user));
    await deleteOwned(this.#settings, ({ value }) => isOwned(Object(value)), by);
  }

  /** Finds the address with a secret. Lookup times reveal nothing about other secrets. */
  findBySecret(secret: string): KnownAddress | undefined {
    const hash = toHash(secret);
    return this.#settings.list().find(({ value }) => value.sha256 === hash);
  }
}

export const toShownAddress = ({ name, value, createdAt }: KnownAddress): Static<typeof CalendarAddress> => ({
  id: name,
  createdBy: value.createdBy,
  createdAt: toTimeText(createdAt),
});

const toHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');
