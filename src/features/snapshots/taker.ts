import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../kit/alert-record.ts';
import type { IncidentSource, SharedIncident } from '../../kit/incident-source.ts';
import { rankOf } from '../../kit/severity.ts';
import { hourMs } from '../../lib/units.ts';
import type { SnapshotStore } from './store.ts';

/** How many are taken in an hour, and how many are kept in all. */
const mostAnHour = 60;
const mostKept = 1000;

/** Milliseconds after which it is too late: the machine does something else by then. */
const recentMs = 5000;

/** Milliseconds of processor time that a snapshot may need. */
const mostCpuMs = 200;

/** Of how many incidents it is known why they have none. */
const mostReasons = 1000;

/** What became of a snapshot. */
export const outcomes = ['taken', 'limit', 'busy', 'failed'] as const;
type Outcome = (typeof outcomes)[number];

interface TakerParts {
  store: SnapshotStore;
  incidents: Pick<IncidentSource, 'act' | 'find' | 'catchUp'>;
  /** Names of this machine in lower case. */
  listNames(): Promise<readonly string[]>;
  /** Milliseconds of processor time that a snapshot would need at present. */
  estimateMs(): Promise<number>;
  /** Takes one; resolves to its JSON. */
  capture(): Promise<string>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
  count(outcome: Outcome): void;
}

/** Decides which incidents get a snapshot, and takes it. */
export class SnapshotTaker {
  readonly #parts: TakerParts;
  /** Of the last hour, in Unix milliseconds; undefined until those of before the start are known. */
  #times: number[] | undefined;
  /** For which opening or raise it was decided, by incident, as long as that is recent. */
  readonly #decided = new Map<string, { of: string; at: number }>();
  readonly #reasons = new Map<string, string>();
  /** Those that get the snapshot that is being taken. */
  #waiting: SharedIncident[] = [];
  #running: Promise<void> | undefined;
  #storing: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;
  isOn: boolean;

  constructor(parts: TakerParts, isOn: boolean) {
    this.#parts = parts;
    this.isOn = isOn;
  }

  /** Called with incidents that are new or have changed. */
  consider(changed: readonly SharedIncident[]): void {
    if (!this.isOn || this.#isClosed) return;
    const now = this.#parts.clock().getTime();
    for (const [id, { at }] of this.#decided) {
      if (Math.abs(now - at) <= recentMs) break;
      this.#decided.delete(id);
    }
    for (const incident of changed) {
      if (!isWorthIt(incident) || Math.abs(now - becameBadAt(incident)) > recentMs) continue;
      const of = `${incident.openings} ${incident.raisedAt}`;
      if (this.#decided.get(incident.id)?.of === of) continue;
      this.#decided.set(incident.id, { of, at: now });
      this.#waiting.push(incident);
    }
    this.#wake();
  }

  /** Why an incident has no snapshot, as a sentence without an end. */
  async explain(incident: SharedIncident): Promise<string> {
    const known = this.#reasons.get(incident.id);
    if (incident.snapshot) return `it was deleted, because only the newest ${mostKept} are kept`;
    if (rankOf(incident.highestLevel) > rankOf('ERROR')) return 'it was never of level ERROR or CRITICAL';
    if (known !== undefined) return known;
    if (!this.isOn) return 'the setting snapshots is off';
    if (!(await this.#parts.listNames()).includes(incident.hostname.toLowerCase())) {
      return incident.hostname === ''
        ? 'its alerts name no host'
        : `one is taken only by signalbox on the machine that it is about, ${incident.hostname}`;
    }
    return 'none was taken when it opened';
  }

  /** Deletes the snapshots of incidents that are gone. */
  async sweep(): Promise<void> {
    const { store, incidents } = this.#parts;
    const all = await store.list();
    // Another instance may have opened the last ones.
    await incidents.catchUp();
    for (const { incident: id, at } of all) {
      const incident = await incidents.find(id);
      if (!incident) await store.delete(id);
      // The process was killed before it was shown.
      else if (!incident.snapshot) await this.#show(id, at, true);
      if (this.#isClosed) return;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // What is being taken nobody waits for.
    await this.#storing?.catch(() => undefined);
  }

  #wake(): void {
    if (this.#waiting.length === 0 || this.#isClosed) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.#wake();
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      try {
        await this.#takeAll();
        this.#isFailing = false;
      } catch (err) {
        if (!this.#isFailing) this.#parts.log.warn({ err }, 'snapshots: one could not be taken');
        this.#isFailing = true;
        for (const incident of this.#waiting.splice(0)) this.#leaveOut(incident, 'failed', 'it could not be stored');
      }
    }
  }

  /** Takes one snapshot for all incidents that open until it is complete. */
  async #takeAll(): Promise<void> {
    const { store, capture, estimateMs, clock, listNames } = this.#parts;
    const names = await listNames();
    const isOurs = ({ hostname }: SharedIncident): boolean => names.includes(hostname.toLowerCase());
    this.#waiting = this.#waiting.filter(isOurs);
    if (this.#waiting.length === 0) return;
    this.#times ??= await store.listTimes(clock().getTime() - hourMs);
    if (this.#countLeft() === 0) {
      for (const incident of this.#waiting.splice(0)) this.#refuse(incident);
      return;
    }
    const cpuMs = await estimateMs();
    if (cpuMs > mostCpuMs) {
      const reason = `it would have taken ${Math.round(cpuMs)} ms of processor time, and at most ${mostCpuMs} are spent on one`;
      for (const incident of this.#waiting.splice(0)) this.#leaveOut(incident, 'busy', reason);
      return;
    }
    const at = clock().getTime();
    const text = await capture();
    if (this.#isClosed) return;
    this.#storing = this.#storeAll(at, text, isOurs).finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  async #storeAll(at: number, text: string, isOurs: (incident: SharedIncident) => boolean): Promise<void> {
    const { store } = this.#parts;
    while (this.#waiting.length > 0) {
      const [incident] = this.#waiting;
      if (incident && isOurs(incident)) {
        if (this.#countLeft() === 0) this.#refuse(incident);
        else await this.#store(incident, at, text);
      }
      this.#waiting.shift();
    }
    for (const { incident, at: takenAt } of await store.listSurplus(mostKept)) {
      // First nobody is promised any more what is deleted then.
      await this.#show(incident, takenAt, false);
      await store.delete(incident);
    }
  }

  async #store({ id }: SharedIncident, at: number, text: string): Promise<void> {
    const { store, count } = this.#parts;
    this.#times?.push(at);
    const takenAt = await store.add(id, at, text);
    await this.#show(id, takenAt, true);
    this.#reasons.delete(id);
    count('taken');
  }

  async #show(id: string, takenAt: number, isKept: boolean): Promise<void> {
    await this.#parts.incidents.act({ type: 'snapshot', id, by: ownSender, takenAt, isKept });
  }

  /** How many more may be taken in this hour. */
  #countLeft(): number {
    const now = this.#parts.clock().getTime();
    this.#times = this.#times?.filter((at) => Math.abs(now - at) < hourMs) ?? [];
    return Math.max(0, mostAnHour - this.#times.length);
  }

  #refuse(incident: SharedIncident): void {
    this.#leaveOut(incident, 'limit', `at most ${mostAnHour} are taken in an hour`);
  }

  #leaveOut({ id }: SharedIncident, outcome: Outcome, reason: string): void {
    this.#parts.count(outcome);
    this.#reasons.set(id, reason);
    const [oldest] = this.#reasons.keys();
    if (this.#reasons.size > mostReasons && oldest !== undefined) this.#reasons.delete(oldest);
  }
}

const isWorthIt = ({ state, level, snapshot, isOld, hostname }: SharedIncident): boolean =>
  state !== 'resolved' && snapshot === null && !isOld && hostname !== '' && rankOf(level) <= rankOf('ERROR');

/** When it was opened, opened again or raised, in Unix milliseconds. */
const becameBadAt = ({ state, openedAt, stateSince, raisedAt }: SharedIncident): number =>
  Math.max(openedAt, state === 'open' ? stateSince : 0, raisedAt ?? 0);
