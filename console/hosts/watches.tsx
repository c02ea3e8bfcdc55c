import type { Host, Watch } from 'signalbox/client';
import { isLike } from '../../src/lib/wildcards.ts';
import { client } from '../api.ts';
import { useResource } from '../live/resource.ts';
import { toHash } from '../router.ts';
import { hostTexts as words } from '../strings/hosts.ts';

/**
 * Watches of this server that run on a host: watches of the host itself, and watches for which it is one of several
 * places.
 */
export const HostWatches = ({ host }: { host: Host }) => {
  const { value } = useResource((signal) => client.listWatches(undefined, { signal }), { key: host.name });
  const own = (value?.data ?? []).filter((watch) => isChecked(watch, host));
  if (own.length === 0) return null;
  return (
    <section>
      <h2>{words.watches}</h2>
      <ul class="names">
        {own.map(({ name, settings }) => (
          <li key={name}>
            <a href={toHash(`/watches/${encodeURIComponent(name)}`)}>
              <bdi>{name}</bdi>
            </a>
            {settings.from && <span class="hint"> {words.votes}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
};

const isChecked = ({ settings: { hosts = [], from = [], enabled } }: Watch, { name, tags }: Host): boolean =>
  enabled !== false &&
  (from.includes(name) || hosts.some((pattern) => [name, ...tags].some((each) => isLike(each, pattern))));
