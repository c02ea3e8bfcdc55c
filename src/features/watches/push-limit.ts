import { HttpError } from '../../http/errors.ts';
import type { KnownWatch } from './known-watch.ts';
import type { WatchSettings } from './schema.ts';

/**
 * Maximum size in bytes of the watches that hosts check, as JSON. The config file and the runtime watches may have 7
 * MiB each, so that both fit into the 16 MiB response that an agent reads.
 */
const maxPushedBytes = 7 * 1024 * 1024;

const countBytes = (watches: readonly WatchSettings[]): number =>
  watches.reduce((sum, watch) => sum + (watch.hosts || watch.from ? Buffer.byteLength(JSON.stringify(watch)) : 0), 0);

/** Returns the problem with configured watches that are too large for hosts, as a list with at most one entry. */
export const findPushProblems = (watches: readonly WatchSettings[]): string[] =>
  countBytes(watches) > maxPushedBytes
    ? ['watches: all watches that set hosts or from must not exceed 7 MiB in total: shorten or remove watches']
    : [];

/** Refuses a runtime watch that makes the watches for hosts too large. Throws an HttpError for such a watch. */
export const assertPushable = ({ name, settings }: KnownWatch, runtime: readonly KnownWatch[]): void => {
  if (!settings.hosts && !settings.from) return;
  const others = runtime.filter((each) => each.name !== name).map((each) => each.settings);
  if (countBytes([...others, settings]) <= maxPushedBytes) return;
  throw new HttpError(
    'invalid',
    'All watches that set hosts or from must not exceed 7 MiB in total: shorten this watch, or delete other watches',
  );
};
