import { setTimeout } from 'node:timers/promises';
import { type Agent, startAgent } from '../../../hosts/support/agent.ts';
import type { Random } from '../../../support/random.ts';
import type { Scope } from '../../../support/scope.ts';
import type { Place } from './network.ts';

/** Host with its agent and its network cable. */
export interface FleetHost {
  name: string;
  place: Place;
  agent: Agent;
  /** Command line of the agent without a code. */
  words: readonly string[];
}

/** Kinds of faults: kill -9, SIGSTOP, an unplugged cable, an orderly restart. */
export const faultKinds = ['killed', 'frozen', 'cut off', 'restarted'] as const;
type FaultKind = (typeof faultKinds)[number];

/** Fault of a host, with the time of the host's first report after the fault, in Unix milliseconds. */
export interface Fault {
  kind: FaultKind;
  host: string;
  from: number;
  until: number;
}

/** Causes a fault at a host and ends it again. */
const breakHost = async (t: Scope, host: FleetHost, kind: FaultKind, ms: number): Promise<void> => {
  const { agent, place, words } = host;
  const isEnding = kind === 'killed' || kind === 'restarted';
  if (isEnding) await agent.stop(kind === 'killed' ? 'SIGKILL' : 'SIGTERM');
  if (kind === 'frozen') agent.child.kill('SIGSTOP');
  if (kind === 'cut off') place.cut();
  await setTimeout(ms);
  if (isEnding) host.agent = await startAgent(t, words, { dataDir: agent.dataDir, wrapper: place.wrapper });
  if (kind === 'frozen') agent.child.kill('SIGCONT');
  if (kind === 'cut off') place.connect();
};

interface Trouble {
  hosts: readonly FleetHost[];
  random: Random;
  /** Minimum duration of a fault, and difference between the longest and the shortest duration, in milliseconds. */
  lengths: { from: number; range: number };
  /** Unix milliseconds after which no further fault begins. */
  endAt: number;
  faults: Fault[];
  /** Hosts that currently have a fault. */
  broken: Set<FleetHost>;
  /** Resolves to the time of the host's first report after `since`. */
  awaitReport(name: string, since: number): Promise<number>;
}

/** Causes faults on random hosts one after another, with one fault at a time per host. */
export const causeFaults = async (t: Scope, trouble: Trouble): Promise<void> => {
  const { hosts, random, lengths, endAt, faults, broken, awaitReport } = trouble;
  for (;;) {
    await setTimeout(random.below(2000));
    const ms = lengths.from + random.below(lengths.range);
    if (Date.now() + ms > endAt) return;
    const whole = hosts.filter((each) => !broken.has(each));
    const host = whole[random.below(whole.length)];
    if (!host) continue;
    broken.add(host);
    const kind = random.pick(faultKinds);
    const from = Date.now();
    await breakHost(t, host, kind, ms);
    faults.push({ kind, host: host.name, from, until: await awaitReport(host.name, Date.now()) });
    broken.delete(host);
  }
};
