/**
 * What commands need of the server's code. They import it only when they run, because it is most of the program: the bundle
 * keeps it in a file of its own, so that scripts that send alerts do not load it.
 */
export { createAccessKey, isKeyName } from '../auth/access.ts';
export { loadSettings } from '../config/load.ts';
export { toFileSchema } from '../config/schema.ts';
export { features } from '../profiles/index.ts';
export { mountRules, schema, settingFlags } from './settings.ts';

/** Parts that few commands need. */
export const parts = {
  serve: () => import('./server/serve.ts'),
  stopping: () => import('./server/stopping.ts'),
  hashPassword: () => import('./hash-password.ts'),
  transfer: () => import('../app/transfer.ts'),
  usage: () => import('./help/usage.ts'),
  manPage: () => import('./help/man-page.ts'),
  completion: () => import('./help/completion.ts'),
  unknownFlags: () => import('./unknown-flags.ts'),
};
