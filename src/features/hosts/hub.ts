import { HttpError } from '../../http/errors.ts';
import { problemStates } from '../../kit/heartbeat-states.ts';
import { type HostOwners, listHostNames, mapHostOwners } from '../../kit/host-names.ts';
import { HostReport } from '../../kit/host-report/report-schema.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { Offers, PushedWatches, RemoteResult } from '../../kit/offers.ts';
import { pickOwnMembers } from '../../kit/own-members.ts';
import { toTimeOrNull, toTimeText } from '../../kit/time.ts';
import type { CreatedCode, HostCodes } from './codes.ts';
import type { Fleet } from './fleet.ts';
import type { CommandQueue } from './host-commands.ts';
import type { HostIncidents } from './host-incidents.ts';
import type { HostWatch } from './host-watch.ts';
import { findDuplicates } from './judge-host.ts';
import { assertHostName, type HostKeeper, type KnownHost, type StoredHost, selfName } from './kind.ts';
import { rings } from './rings.ts';
import type { HostDetails, ShownHost } from './schema.ts';

/** Maximum clock difference, in seconds, that is not shown. */
const shownSkew = 5;

/** Maximum number of reports from a host in a burst, and number of reports per second afterwards. */
const burst = 60;

/** Prefix in the name of a caller who uses a key. */
const keyPrefix = 'key:';

interface HubParts {
  fleet: Fleet;
  keeper: HostKeeper;
  codes: HostCodes;
  watch: HostWatch;
  commands: CommandQueue;
  incidents: HostIncidents;
  accounts: NonNullable<Offers['accounts']>;
  offers: Pick<Offers, 'watches'>;
  dependencies: Pick<IncidentSource['dependencies'], 'assertUnneeded'>;
  clock: () => Date;
}

/** Hosts that report to this server. */
export class Hub {
  readonly #parts: HubParts;
  /** Number of reports that each host may still send, and the time at which that number was computed. */
  readonly #allowances = new Map<string, { left: number; at: number }>();

  /** Owners of all names, with the list of hosts from which they were derived. */
  #owners: { hosts: readonly KnownHost[]; owners: HostOwners } = { hosts: [], owners: new Map() };

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /**
   * Creates an enrolment code for a host. Also creates the host if it is missing. Rejects with an HttpError if the host
   * is invalid or cannot be enrolled, or if a key creates a code for a host that gets secrets.
   */
  async invite({ name, ...given }: { name: string } & Partial<StoredHost>, by: string): Promise<CreatedCode> {
    const { accounts, codes, keeper, offers } = this.#parts;
    assertHostName(name);
    const key = accounts.findKey(name);
    if (key && (key.isConfigured || !key.scopes.includes('hosts:report')))
      throw new HttpError(
        'wrong-state',
        `A key ${name} already exists: delete the key, or choose another name for the host`,
      );
    const known = keeper.find(name);
    const { tags = [] } = known ?? given;
    if (by.startsWith(keyPrefix) && offers.watches?.hasSecretsFor({ name, tags }))
      throw new HttpError(
        'forbidden',
        `${name} would get watches with a password or private key: only an administrator can create its code`,
      );
    if (!known) await keeper.create(name, { tags: [], note: '', ...given }, by);
    return codes.create(name, by);
  }

  /**
   * Exchanges a code for a key and revokes the earlier key of the host. Rejects with an HttpError if the code is
   * invalid.
   */
  async enrol(code: string): Promise<{ name: string; key: string }> {
    const { accounts, codes, keeper } = this.#parts;
    const { name, by } = await codes.use(code);
    if (!keeper.find(name))
      throw new HttpError('forbidden', `Host ${name} was deleted: create the host again with signalbox add-host`);
    if (accounts.findKey(name)) await accounts.deleteKey(name, by);
    return { name, key: await accounts.createKey(name, ['hosts:report'], by) };
  }

  /**
   * Processes a host's report. `given` must be `self` or the host of the caller's key. Rejects with an HttpError if it
   * is neither, or if the report is refused.
   */
  async report(given: string, caller: string, report: HostReport): Promise<{ name: string; at: number }> {
    const { clock, fleet, keeper } = this.#parts;
    const name = readHostName(given, caller);
    const at = clock().getTime();
    this.#spend(name, at);
    // The key is in the config file, or another instance has just created the host.
    if (!keeper.find(name)) await this.#add(name, caller);
    await fleet.take(name, pickOwnMembers(report, HostReport), at);
    return { name, at };
  }

  /**
   * Delivers the result of a command that ran on a host. Resolves to the name of the host. The limits of `report` apply.
   * Rejects with an HttpError if the caller may not deliver the result.
   */
  async settleCommand(given: string, caller: string, id: string, result: RemoteResult): Promise<string> {
    const name = readHostName(given, caller);
    if (await this.#parts.commands.settle(name, id, result)) return name;
    // Results of waiting commands need no limit, because each command takes only one result.
    this.#spend(name, this.#parts.clock().getTime());
    throw new HttpError(
      'not-found',
      'The result arrived too late: the command has already timed out or been cancelled',
    );
  }

  /** Runs a command line on a host. Rejects with an HttpError if that is not possible, or with the signal's reason. */
  async runCommand(
    name: string,
    command: { line: string; by: string | null; requestId: string },
    signal: AbortSignal,
  ): Promise<RemoteResult> {
    const { commands, fleet, keeper, watch } = this.#parts;
    keeper.require(name);
    // Another instance may have received the last report.
    await fleet.catchUp();
    const { state } = watch.judge(name);
    if (state !== 'up' && state !== 'late') throw new HttpError('wrong-state', `${name} is not reporting now`);
    if (!fleet.find(name)?.report.allowsCommands)
      throw new HttpError(
        'wrong-state',
        `${name} does not allow commands: set allowCommands in the config file of the host`,
      );
    return commands.run(name, command, signal);
  }

  /** Returns the watches of a host, or no list if the host already has the current list. */
  listWatches(name: string, known: string | undefined): { watchesId?: string; watches?: PushedWatches['list'] } {
    const { keeper, offers } = this.#parts;
    const host = keeper.find(name);
    const pushed = host && offers.watches?.listFor(host);
    if (!pushed) return {};
    return { watchesId: pushed.id, ...(pushed.id !== known && { watches: pushed.list }) };
  }

  /** Deletes a host with its key, code and history. Rejects with an HttpError if the host cannot be deleted. */
  async delete(name: string, by: string): Promise<void> {
    const { accounts, codes, fleet, keeper, watch } = this.#parts;
    this.#parts.dependencies.assertUnneeded(`host/${name}`);
    const key = accounts.findKey(name);
    if (key?.isConfigured)
      throw new HttpError('wrong-state', `The key of host ${name} is in the config file: remove the key there first`);
    if (key?.scopes.includes('hosts:report')) await accounts.deleteKey(name, by);
    await codes.end(name, by);
    await keeper.delete(name, by);
    await fleet.delete(name);
    this.#allowances.delete(name);
    void watch.look();
  }

  /**
   * Lists the values of `hostname` in alerts about a host. The given name can be in any case. Empty for an unknown
   * host.
   */
  listNames(name: string): string[] {
    const known = this.#parts.keeper.list().find((each) => each.name.toLowerCase() === name.toLowerCase());
    return known ? this.#listNames(known) : [];
  }

  show(known: KnownHost): ShownHost {
    const { name, tags, aliases, note, dependsOn, setting } = known;
    const { fleet, incidents, watch } = this.#parts;
    const state = fleet.find(name);
    const { state: status, since } = watch.judge(name);
    const report = state?.report;
    const { heartbeats = [] } = report ?? {};
    const { count, worst } = incidents.of(this.#listNames(known));
    const skew = Math.round((state?.skewMs ?? 0) / 1000);
    const { step } = rings[1];
    const line = [...(state?.line ?? [])];
    return {
      name,
      state: status,
      since: toTimeOrNull(since ?? state?.at),
      isHub: state?.isHub ?? false,
      tags: [...tags],
      aliases: [...aliases],
      note,
      dependsOn: [...dependsOn],
      hostname: report?.hostname ?? null,
      machineId: report?.machineId ?? null,
      duplicates: state
        ? findDuplicates(state).map(({ id, hostname, at }) => ({ id, hostname, lastReportAt: toTimeText(at) }))
        : [],
      version: report?.version ?? null,
      allowsCommands: report?.allowsCommands ?? false,
      osName: report?.osName ?? null,
      uptimeSeconds: report?.uptimeSeconds ?? null,
      lastReportAt: toTimeOrNull(state?.at),
      clockSkewSeconds: Math.abs(skew) > shownSkew ? skew : null,
      readings: report?.readings ?? null,
      openIncidents: count,
      worstSeverity: worst,
      heartbeatCount: heartbeats.length,
      heartbeatProblems: heartbeats.filter((each) => problemStates.includes(each.state)).length,
      line: {
        start: toTimeText(((state?.lineAt ?? step * line.length) - step * Math.max(0, line.length - 1)) * 1000),
        step,
        cpu: line,
      },
      lastSilence: state?.lastSilence
        ? { from: toTimeText(state.lastSilence.from), until: toTimeText(state.lastSilence.until) }
        : null,
      updatedBy: setting?.by ?? null,
      updatedAt: toTimeOrNull(setting?.at),
    };
  }

  /** Returns a host with its heartbeats. */
  showDetails(known: KnownHost): HostDetails {
    const { at = 0, report } = this.#parts.fleet.find(known.name) ?? {};
    return {
      ...this.show(known),
      heartbeats: (report?.heartbeats ?? []).map(({ pingAge, ...heartbeat }) => ({
        ...heartbeat,
        lastPingAt: toTimeOrNull(typeof pingAge === 'number' ? at - pingAge * 1000 : null),
      })),
    };
  }

  #listNames(known: KnownHost): string[] {
    const { fleet, keeper } = this.#parts;
    const hosts = keeper.list();
    if (hosts !== this.#owners.hosts) this.#owners = { hosts, owners: mapHostOwners(hosts) };
    return listHostNames(known, fleet.find(known.name)?.report.hostname, this.#owners.owners);
  }

  async #add(name: string, by: string): Promise<void> {
    const { keeper } = this.#parts;
    await keeper.catchUp();
    if (!keeper.find(name)) await keeper.create(name, { tags: [], note: '' }, by);
  }

  /** @throws HttpError if the host sends too many reports */
  #spend(name: string, at: number): void {
    const before = this.#allowances.get(name) ?? { left: burst, at };
    const left = Math.min(burst, before.left + Math.max(0, at - before.at) / 1000);
    if (left < 1)
      throw new HttpError('too-many', `${name} reports too often: report every ten seconds`, {
        headers: { 'retry-after': '10' },
      });
    this.#allowances.set(name, { left: left - 1, at });
  }
}

/**
 * Returns the host that the caller's key reports for. Throws an HttpError if another name is given, or if the caller is
 * a user.
 */
const readHostName = (given: string, caller: string): string => {
  const own = caller.startsWith(keyPrefix) ? caller.slice(keyPrefix.length) : undefined;
  if (own === undefined) throw new HttpError('forbidden', 'Only the key of a host can be used for reports');
  if (given !== selfName && given !== own) throw new HttpError('forbidden', `This key can report only as ${own}`);
  return own;
};
