import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { PushedWatch, PushedWatches } from '../../kit/offers.ts';
import { isObject, parseJson } from '../../lib/parse-json.ts';
import { isLike } from '../../lib/wildcards.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import { assertWithoutFiles } from './kind.ts';
import { type KnownWatch, toKnownWatch } from './known-watch.ts';
import type { WatchSettings } from './schema.ts';
import { findStoredProblem } from './watch-problems.ts';
import { listSecrets } from './watch-secrets.ts';

/** True if the host with this name and these tags runs the watch itself. */
export const isForHost = ({ hosts = [] }: WatchSettings, name: string, tags: readonly string[] = []): boolean =>
  hosts.some((pattern) => [name, ...tags].some((text) => isLike(text, pattern)));

/** Lists the watches of the hub that a host should run. */
export const listPushed = (
  watches: readonly KnownWatch[],
  { name, tags }: { name: string; tags: readonly string[] },
): PushedWatches => {
  const list = watches.flatMap(({ settings }): PushedWatch[] => {
    // The hub decides what depends on what.
    const { hosts: _, from, votes: __, dependsOn: ___, ...watch } = settings;
    if (settings.enabled === false) return [];
    if (isForHost(settings, name, tags)) return [{ watch, isVote: false }];
    // The hub applies `for` to the votes.
    return from?.includes(name) ? [{ watch: { ...watch, for: 0 }, isVote: true }] : [];
  });
  return { id: createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 16), list };
};

/** True if a watch of the hub that the host runs, or would run if it were enabled, contains a secret. */
export const hasSecretsFor = (
  watches: readonly KnownWatch[],
  { name, tags }: { name: string; tags: readonly string[] },
): boolean =>
  watches.some(
    ({ settings }) =>
      listSecrets(settings).length > 0 && (isForHost(settings, name, tags) || settings.from?.includes(name) === true),
  );

/** Watches that this host has received from its hub. They are stored on disk, for startups without the hub. */
export class ReceivedWatches {
  readonly #file: ReplacedFile;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  #known: readonly KnownWatch[] = [];
  /** Id of the list received from the hub. */
  id = '';

  constructor(file: ReplacedFile, log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#file = file;
    this.#log = log;
  }

  async load(): Promise<void> {
    const stored = parseJson(String((await this.#file.read()) ?? ''));
    if (isObject(stored) && typeof stored['id'] === 'string') this.#use(stored as unknown as PushedWatches);
  }

  /** Replaces the list. Resolves once the new list is on disk. */
  async set(received: PushedWatches): Promise<void> {
    this.#use(received);
    await this.#file.write(Buffer.from(JSON.stringify(received)));
  }

  /**
   * Adds the hub's watches to this host's own. If names collide, the host's runtime and configured watches win over the
   * hub's, and its default watches do not.
   */
  merge(own: readonly KnownWatch[]): readonly KnownWatch[] {
    if (this.#known.length === 0) return own;
    const fixed = new Set(own.filter(({ origin }) => origin !== 'default').map(({ name }) => name));
    const added = this.#known.filter(({ name }) => !fixed.has(name));
    const names = new Set(added.map(({ name }) => name));
    return [...own.filter(({ name }) => !names.has(name)), ...added];
  }

  #use({ id, list }: PushedWatches): void {
    this.id = id;
    this.#known = (Array.isArray(list) ? list : []).slice(0, 1000).flatMap(({ watch, isVote }) => {
      try {
        const settings = watch as WatchSettings;
        const problem = findStoredProblem(settings);
        if (problem !== undefined) throw new Error(problem);
        const known = { ...toKnownWatch(settings, 'made'), ...(isVote && { isVote }) };
        // The hub must not be able to read this host's files.
        assertWithoutFiles(known);
        return [known];
      } catch (err) {
        this.#log.warn(
          { err, watch: isObject(watch) ? watch['name'] : undefined },
          'watches: a watch from the hub cannot be used and has no effect',
        );
        return [];
      }
    });
  }
}
