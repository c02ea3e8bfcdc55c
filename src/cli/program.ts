import { createSettingsSchema } from '../config/schema.ts';
import { toFormerProperties } from '../config/upgrade.ts';
import { features } from '../features/index.ts';
import { listSettingFlags } from './args.ts';

export { createAccessKey, isKeyName } from '../auth/access.ts';
export { roles } from '../auth/token.ts';
export { loadSettings } from '../config/load.ts';
/**
 * Server code for commands. Imported only when such a command runs, because it is most of the program. The bundle keeps
 * it in a separate file, so that scripts that send alerts do not load it.
 */
export { createUser } from '../server/create-user.ts';
export { exportLines, importLines } from '../server/transfer.ts';
export { printPasswordHash, readNewPassword } from './hash-password.ts';
export { createLog } from './serve/log.ts';
export { features };

/** Schema of all settings, including the settings of features. */
export const schema = createSettingsSchema(features.map(({ settings }) => settings));

/** Flags of settings, including former names. */
export const settingFlags = listSettingFlags({ ...schema.properties, ...toFormerProperties(schema.properties) });

/** Loads the code that starts servers. Loaded on demand, because it would slow down every other command by a tenth. */
export const loadServer = () => import('./serve/serve.ts');

/** Loads the demonstration. The demonstration starts a server. */
export const loadDemo = () => import('./demo/demo.ts');

/** Returns the export and import code of all features that store data. */
export const listTransfers = ({ hasReadings = true } = {}) =>
  features
    .flatMap(({ transfer }) => transfer ?? [])
    .map((transfer) => (hasReadings ? transfer : (transfer.withoutReadings ?? transfer)));
