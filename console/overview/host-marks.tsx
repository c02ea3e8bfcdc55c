import type { Host } from 'signalbox/client';
import { compareHosts } from '../../src/kit/host-rank.ts';
import { toCount } from '../format.ts';
import { hasHosts, knownHosts } from '../live/hosts.ts';
import { toHash } from '../router.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { text } from '../strings/index.ts';
import { hostLooks } from '../ui/host-looks.tsx';
import { Panel } from '../ui/panel.tsx';

/** Coloured marks for hosts, worst first. Shows nothing if this server is the only host. */
export const HostMarks = () => {
  const hosts = (knownHosts.value.value ?? []).toSorted(compareHosts);
  if (!hasHosts.value) return null;
  return (
    <Panel title={text.titles.hosts} kind="host-marks" aside={<a href="#/hosts">{countStates(hosts)}</a>}>
      <ul>
        {hosts.map((host) => (
          <li key={host.name}>
            <Mark {...host} />
          </li>
        ))}
      </ul>
    </Panel>
  );
};

const Mark = ({ name, state, openIncidents, worstSeverity }: Host) => {
  const problem = openIncidents > 0 && words.open(toCount(openIncidents));
  const label = [name, words.states[state], problem].filter(Boolean).join(' · ');
  const tone = state === 'up' && worstSeverity ? worstSeverity.toLowerCase() : hostLooks[state].tone;
  return (
    <a class={`mark tone-${tone}`} href={toHash(`/hosts/${encodeURIComponent(name)}`)} title={label}>
      <span class="unseen">{label}</span>
    </a>
  );
};

/** Counts hosts by state, worst first: `2 silent, 10 up`. */
const countStates = (hosts: readonly Host[]): string =>
  [...new Set(hosts.map(({ state }) => state))]
    .map((state) => {
      const count = hosts.filter((host) => host.state === state).length;
      return `${toCount(count)} ${words.states[state].toLowerCase()}`;
    })
    .join(', ');
