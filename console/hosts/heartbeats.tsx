import type { Host } from 'signalbox/client';
import { hostTexts as words } from '../strings/hosts.ts';
import { HeartbeatChip } from '../ui/heartbeat-chip.tsx';
import { Ago } from '../ui/time.tsx';

/** Heartbeats that jobs ping on a host. */
export const HostHeartbeats = ({ heartbeats }: Pick<Host, 'heartbeats'>) => {
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
