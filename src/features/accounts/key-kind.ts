import { AccessKey, needs } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { KeyParams, ShownKey } from './schema.ts';
import { accountNameForm } from './user-kind.ts';

/** Stored form of a key: its hash, never the key itself. */
type StoredKey = Omit<AccessKey, 'name'>;

/** Accepted key, from the config file or from a runtime setting. */
export interface MergedKey extends AccessKey {
  setting: RuntimeSetting<StoredKey> | undefined;
}

export type KeyKeeper = SettingKeeper<StoredKey, MergedKey, AccessKey>;

/** @throws HttpError if the name is invalid */
const assertKeyName = (name: string): void => {
  if (accountNameForm.test(name)) return;
  throw new HttpError(
    'invalid',
    'name must consist of up to 64 letters, digits, ".", "_", "@" and "-", and begin with a letter or digit',
  );
};

const isKey = createSchemaCheck(AccessKey);

/** Compiles a stored key. Throws an Error if the key is invalid. */
const compile = (setting: RuntimeSetting<StoredKey>): MergedKey => {
  const key = { ...setting.value, name: setting.name };
  if (!isKey(key)) throw new Error('this version cannot read the stored key');
  return { ...key, setting };
};

/** Kind of runtime setting for keys of programs. The route guard finds keys by hash in `AccessKeys`. */
export const keyKind = defineSettingKind<StoredKey, MergedKey, AccessKey>({
  name: 'key',
  noun: 'Key',
  path: '/api/keys',
  params: KeyParams,
  shape: ShownKey,
  reading: needs('accounts:manage'),
  changing: { ...needs('accounts:manage'), changesAccess: true },
  limits: { count: 1000, plural: 'keys' },
  order: 'name',
  assertName: assertKeyName,
  compile,
  fromConfig: (key) => ({ ...key, setting: undefined }),
});
