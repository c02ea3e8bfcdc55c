import { toPerson } from '../../src/kit/people.ts';
import { settingTexts as words } from '../strings/settings.ts';

/**
 * Runtime setting: a user, key, destination or intake format. May also be a setting from the config file, which is
 * read-only.
 */
export interface RuntimeSetting {
  name: string;
  origin: 'config' | 'made' | 'temporary' | 'destinations';
  updatedBy: string | null;
  updatedAt: string | null;
  version: number | null;
}

export type Kind = 'users' | 'keys' | 'destinations' | 'formats' | 'policies' | 'pages' | 'ways';

/** Describes who changed a setting, or which source it comes from. */
export const describeOrigin = ({ origin, updatedBy }: RuntimeSetting): string =>
  origin === 'made' ? toPerson(updatedBy ?? words.unknown) : words[origin];
