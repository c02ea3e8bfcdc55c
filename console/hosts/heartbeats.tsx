import { client } from '../api.ts';
import { useRereading } from '../live/rereading.ts';
import { useResource } from '../live/resource.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { HeartbeatChip } from '../ui/heartbeat-chip.tsx';
import { Ago } from '../ui/time.tsx';
import { hostRereadMs } from './history.tsx';

/** Heartbeats that jobs ping on a host. */
export const HostHeartbeats = ({ name: host }: { name: string }) => {
  const resource = useResource((signal) => client.getHost({ name: host }, { signal }), { key: host });
  useRereading(resource, hostRereadMs);
  const heartbeats = resource.value?.heartbeats ?? [];
  if (heartbeats.length === 0) return null;
  return (
    <section>
      <h2>{words.heartbeats}</h2>
      <ul class="names">
        {heartbeats.map(({ name, state, lastPingAt }) => (
          <li key={name}>
            <HeartbeatChip state={state} /> <bdi>{name}</bdi>{' '}
            {lastPingAt !== null && (
              <span class="hint">
                <Ago time={lastPingAt} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
};
