import { toPerson } from '../../src/kit/people.ts';
import { settingTexts as words } from '../strings/settings.ts';

/** Runtime setting: a user, key, destination or intake format. A setting from the config file is read-only. */
export interface RuntimeSetting {
  name: string;
  origin: 'config' | 'made' | 'temporary' | 'destinations';
  updatedBy: string | null;
  updatedAt: string | null;
  version: number | null;
}

export type Kind = 'users' | 'keys' | 'destinations' | 'formats' | 'policies' | 'pages' | 'ways';

/** Describes the author of a setting's last change, or the source of the setting. */
export const describeOrigin = ({ origin, updatedBy }: RuntimeSetting): string =>
  origin === 'made' ? toPerson(updatedBy ?? words.unknown) : words[origin];
