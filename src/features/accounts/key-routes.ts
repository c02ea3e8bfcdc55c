import { AccessKey, type AccessKeys, createAccessKey, type KnownKey, needs } from '../../auth/access.ts';
import { HttpError, requireKnown } from '../../http/errors.ts';
import { pickUsable } from '../../kit/compiled-settings.ts';
import { createMadeRoutes, toMadeFacts } from '../../kit/made-routes.ts';
import type { PutOptions, RuntimeSetting, SettingStore } from '../../kit/offers.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { type Route, toTimeOrNull } from '../../kit/route.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { CreatedKey, KeyList, KeyParams, NewKey, ShownKey } from './schema.ts';
import { accountNameForm } from './user-keeper.ts';

/** As settings made at run time. */
const keyKind = 'key';

/** Bounds of keys made at run time. */
const limits: PutOptions = { most: { count: 1000, plural: 'keys' } };

/** From then on, somebody should ask whether a key is still needed. */
const unusedMs = 90 * 24 * 60 * 60_000;

/** As it is stored. */
type StoredKey = Omit<AccessKey, 'name'>;

interface KeyParts {
  keys: AccessKeys;
  settings: SettingStore | undefined;
  /** Learns when keys were used before the start, and at other instances. */
  loadUses(): Promise<void>;
  clock: () => Date;
}

const isKey = createSchemaCheck(AccessKey);

const toKey = ({ name, value }: RuntimeSetting<StoredKey>): AccessKey => ({ ...value, name });

/** Takes over the keys that were made at run time, and each change of them; the listener is called then. */
export const followMadeKeys = (keys: AccessKeys, settings: SettingStore, onChanged: () => void): void => {
  const take = (): void => {
    const usable = pickUsable<StoredKey>(settings, keyKind, (setting) =>
      isKey(toKey(setting)) ? undefined : 'it is no key of this version',
    );
    keys.setMade(usable.map(toKey));
  };
  take();
  settings.onChanged(keyKind, () => {
    take();
    onChanged();
  });
};

const kind = {
  path: '/api/keys',
  params: KeyParams,
  shape: ShownKey,
  noun: 'key',
  reading: needs('accounts:manage'),
  changing: { ...needs('accounts:manage'), changesAccess: true },
};
const { list, create, remove } = createMadeRoutes<ShownKey>(kind);

export const createKeyRoutes = (parts: KeyParts): Route[] => [
  list(
    {
      operationId: 'listKeys',
      summary: 'List keys, those of the settings too, with their last use',
      response: KeyList,
    },
    async () => {
      await parts.loadUses();
      return parts.keys.list().sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    (key) => toShownKey(key, parts),
  ),
  ...(parts.settings ? createChangingRoutes(parts, parts.settings) : []),
];

const createChangingRoutes = (parts: KeyParts, settings: SettingStore): Route[] => [
  create(
    {
      operationId: 'createKey',
      summary: 'Make a key for a program, which only this response shows',
      body: NewKey,
      created: CreatedKey,
    },
    async (given, by) => {
      assertOwnMembers(given, NewKey);
      const { name, scope, scopes = scope && [scope] } = given;
      if (!accountNameForm.test(name)) {
        throw new HttpError(
          'invalid',
          'name must have up to 64 letters, digits, ".", "_", "@" and "-", and begin with a letter or digit',
        );
      }
      if (!scopes) throw new HttpError('invalid', 'scopes is required');
      if (scope && given.scopes) throw new HttpError('invalid', 'scope and scopes are alternatives: remove one');
      const taken = new HttpError('wrong-state', `There is a key ${name}: choose another name`);
      if (parts.keys.list().some((key) => key.name === name)) throw taken;
      const { key, entry } = createAccessKey(name, scopes);
      const { name: _, ...value } = entry;
      await settings.put<StoredKey>(keyKind, name, value, by, [0], limits).catch((error) => {
        throw error instanceof StoreConflict ? taken : error;
      });
      const known = parts.keys.list().find((one) => one.sha256 === entry.sha256);
      if (!known) throw new HttpError('wrong-state', `Key ${name} has been deleted meanwhile`);
      return { ...toShownKey(known, parts), key };
    },
  ),
  remove(
    { operationId: 'deleteKey', summary: 'Delete a key, which opens nothing from then on' },
    async (name, { by, expected }) => {
      const known = parts.keys.list().find((one) => one.name === name);
      const key = requireKnown(known, 'Key', name, '/api/keys');
      if (key.origin === 'config') {
        throw new HttpError('wrong-state', `Key ${name} is in the config file: change it there`);
      }
      const shown = toShownKey(key, parts);
      await settings.delete(keyKind, name, by, expected);
      return shown;
    },
  ),
];

/** Without its hash. */
const toShownKey = ({ name, scopes, origin, use }: KnownKey, { settings, clock }: KeyParts): ShownKey => {
  const found: RuntimeSetting | undefined = origin === 'made' ? settings?.find(keyKind, name) : undefined;
  const known = Math.max(use.last, found?.at ?? use.since);
  return {
    name,
    scopes: [...scopes],
    origin,
    lastUsedAt: toTimeOrNull(use.last || null),
    isUnused: clock().getTime() - known > unusedMs,
    ...toMadeFacts(found),
  };
};
