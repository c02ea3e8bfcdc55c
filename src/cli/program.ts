import { toFormerProperties } from '../config/former.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { features } from '../features/index.ts';
import { listSettingFlags } from './args.ts';

export { createAccessKey, isKeyName } from '../auth/access.ts';
export { roles } from '../auth/token.ts';
export { loadSettings } from '../config/load.ts';
/**
 * What commands need of the server's code. They import it only when they run, because it is most of the program: the bundle
 * keeps it in a file of its own, so that scripts that send alerts do not load it.
 */
export { createUser } from '../server/create-user.ts';
export { exportLines, importLines } from '../server/transfer.ts';
export { printPasswordHash, readNewPassword } from './hash-password.ts';
export { createLog } from './serve/log.ts';
export { features };

/** All settings, those of features too. */
export const schema = createSettingsSchema(features.map(({ settings }) => settings));

/** The flags of settings, under their former names too. */
export const settingFlags = listSettingFlags({ ...schema.properties, ...toFormerProperties(schema.properties) });

/** Starts servers; loaded on demand, because it would take a tenth of the time of every other command. */
export const loadServer = () => import('./serve/serve.ts');

/** The demonstration, which starts a server. */
export const loadDemo = () => import('./demo/demo.ts');

/** How each feature's part of a store is exported and imported. */
export const listTransfers = () => features.flatMap(({ transfer }) => transfer ?? []);
