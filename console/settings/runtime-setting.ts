import { toPerson } from '../../src/kit/people.ts';
import { settingTexts as words } from '../strings/settings.ts';

/**
 * Runtime setting: user, key, destination or intake format; includes settings from the config file, which are
 * read-only.
 */
export interface RuntimeSetting {
  name: string;
  origin: 'config' | 'made' | 'temporary' | 'destinations';
  updatedBy: string | null;
  updatedAt: string | null;
  version: number | null;
}

export type Kind = 'users' | 'keys' | 'destinations' | 'formats' | 'policies' | 'ways';

/** A setting's author, or its source. */
export const describeOrigin = ({ origin, updatedBy }: RuntimeSetting): string =>
  origin === 'made' ? toPerson(updatedBy ?? words.unknown) : words[origin];
