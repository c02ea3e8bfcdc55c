import { spawnSync } from 'node:child_process';
import { atEnd, type Scope } from '../../../support/scope.ts';
import { isCi } from '../../faults/support/requirements.ts';

/** Machine in a network: a network namespace, connected to a bridge by one cable. */
export interface Place {
  /** Command that runs a program on the machine. */
  wrapper: readonly string[];
  /** Unplugs the cable. */
  cut(): void;
  /** Plugs in the cable again. */
  connect(): void;
}

const run = (line: string): void => {
  const { status, stderr } = spawnSync('ip', line.split(' '), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${line}: ${stderr}`);
};

/** Returns the reason to skip tests that create networks, or false if they can run. */
export const toSkipNetwork = (): string | false => {
  if (isCi || (process.getuid?.() === 0 && spawnSync('ip', ['netns', 'list']).status === 0)) return false;
  return 'network namespaces need root and iproute2';
};

/** Creates machines on a bridge. They reach this process at `address`, and are removed when the test ends. */
export const createNetwork = (t: Scope, count: number): { address: string; places: Place[] } => {
  // Addresses from RFC 2544. They belong to nobody. Networks of several processes must differ.
  const subnet = `198.18.${process.pid % 256}`;
  const bridge = `sb-${process.pid}`;
  run(`link add ${bridge} type bridge`);
  atEnd(t, () => run(`link delete ${bridge}`));
  run(`address add ${subnet}.1/24 dev ${bridge}`);
  run(`link set ${bridge} up`);
  const places = Array.from({ length: count }, (_, index) => {
    const name = `${bridge}-${index}`;
    run(`netns add ${name}`);
    atEnd(t, () => run(`netns delete ${name}`));
    run(`link add ${name} type veth peer name eth0 netns ${name}`);
    run(`link set ${name} master ${bridge}`);
    run(`-n ${name} address add ${subnet}.${index + 2}/24 dev eth0`);
    for (const device of ['eth0', 'lo']) run(`-n ${name} link set ${device} up`);
    run(`link set ${name} up`);
    return {
      wrapper: ['ip', 'netns', 'exec', name],
      cut: () => run(`link set ${name} down`),
      connect: () => run(`link set ${name} up`),
    };
  });
  return { address: `${subnet}.1`, places };
};
