import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import { findEscapingLink } from '../http/routes/public-folder.ts';
import { packageRoot } from './package-info.ts';

/** The folder that /docs/ serves; throws a SettingsError where it is none, or holds a link that leads out of it. */
export const findPublicFolder = ({ publicDir }: Settings): string => {
  const folder = resolve(publicDir ?? join(packageRoot, 'public'));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SettingsError([`publicDir ${folder} is not a folder`]);
  }
  const link = findEscapingLink(folder);
  if (link !== undefined) throw new SettingsError([`publicDir has a link that leaves it: remove ${link}`]);
  return folder;
};
