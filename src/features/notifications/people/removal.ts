import type { RuntimeSetting } from '../../../kit/setting-store.ts';

interface OwnedSettings<Stored> {
  listStored(): readonly RuntimeSetting<Stored>[];
  delete(name: string, by: string): Promise<boolean>;
}

/** Deletes the settings that belong to a user, including broken settings. */
export const deleteOwned = async <Stored>(
  settings: OwnedSettings<Stored>,
  isOwned: (setting: RuntimeSetting<Stored>) => boolean,
  by: string,
): Promise<void> => {
  for (const setting of settings.listStored().filter(isOwned)) await settings.delete(setting.name, by);
};

/** True if two names mean the same user. The names of two users never differ only in case. */
export const isSameUser = (one: string | undefined, other: string): boolean =>
  one?.toLowerCase() === other.toLowerCase();
