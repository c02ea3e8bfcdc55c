import { toPerson } from '../../src/kit/people.ts';
import { settingTexts as words } from '../strings/settings.ts';

/** What the console can make: users, keys, destinations and intake formats; also those that only the config file can change. */
export interface Made {
  name: string;
  origin: 'config' | 'made' | 'temporary';
  updatedBy: string | null;
  updatedAt: string | null;
  version: number | null;
}

export type Kind = 'users' | 'keys' | 'destinations' | 'formats';

/** Who has made it, or where it is from. */
export const describeOrigin = ({ origin, updatedBy }: Made): string =>
  origin === 'made' ? toPerson(updatedBy ?? words.unknown) : words[origin];
