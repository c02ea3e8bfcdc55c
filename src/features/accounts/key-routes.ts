import { type AccessKeys, createAccessKey } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import type { Route } from '../../kit/route.ts';
import { toSettingFacts } from '../../kit/setting-kind.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import { toTimeOrNull } from '../../kit/time.ts';
import { type KeyKeeper, keyKind, type MergedKey } from './key-kind.ts';
import { CreatedKey, KeyList, NewKey, type ShownKey } from './schema.ts';

/** Milliseconds without use after which a key is reported as unused. */
const unusedMs = 90 * 24 * 60 * 60_000;

interface KeyParts {
  keeper: KeyKeeper;
  keys: AccessKeys;
  /** Reads the uses recorded by other instances and earlier runs. */
  loadUses(): Promise<void>;
  clock: () => Date;
}

export const createKeyRoutes = ({ keeper, keys, loadUses, clock }: KeyParts): Route[] => {
  /** Converts a key to its form in responses, without its hash. */
  const toShown = ({ name, sha256, scopes, setting }: MergedKey): ShownKey => {
    const { since = 0, last = 0 } = keys.findByHash(sha256)?.use ?? {};
    return {
      name,
      scopes: [...scopes],
      origin: setting ? 'made' : 'config',
      lastUsedAt: toTimeOrNull(last || null),
      isUnused: clock().getTime() - Math.max(last, setting?.at ?? since) > unusedMs,
      ...toSettingFacts(setting),
    };
  };
  const { list, create, remove } = createSettingRoutes(keyKind, keeper, toShown);
  return [
    list(
      {
        operationId: 'listKeys',
        summary: 'List keys, including those of the config file, with their last use',
        response: KeyList,
      },
      async () => {
        await loadUses();
        return keeper.list();
      },
    ),
    create(
      {
        operationId: 'createKey',
        summary: 'Create a key for a program; only this response contains the key',
        body: NewKey,
        created: CreatedKey,
      },
      async (given, by) => {
        const { name, scope, scopes = scope && [scope] } = given;
        keyKind.assertName?.(name);
        if (!scopes) throw new HttpError('invalid', 'scopes is required');
        if (scope && given.scopes) throw new HttpError('invalid', 'use either scope or scopes, not both');
        const { key, entry } = createAccessKey(name, scopes);
        const { name: _, ...value } = entry;
        const known = await keeper.create(name, value, by);
        if (!keys.findByHash(entry.sha256))
          throw new HttpError('wrong-state', `Key ${name} was deleted in the meantime`);
        return { ...toShown(known), key };
      },
    ),
    remove({ operationId: 'deleteKey', summary: 'Delete a key; requests with the key are refused immediately' }),
  ];
};
