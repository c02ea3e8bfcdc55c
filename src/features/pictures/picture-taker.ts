import type { FastifyBaseLogger } from 'fastify';
import { ownSender } from '../../kit/alert-record.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { rankOf } from '../../kit/severity.ts';
import { hourMs } from '../../lib/units.ts';
import type { PictureStore } from './picture-store.ts';

const maxPerHour = 60;
const maxKept = 1000;

/** Milliseconds after the opening of an incident during which a picture still shows the cause. */
const recentMs = 5000;

/** Maximum CPU time of one picture, in milliseconds. */
const maxCpuMs = 200;

/** Maximum number of incidents for which the reason for a missing picture is remembered. */
const maxReasons = 1000;

export const pictureOutcomes = ['taken', 'limit', 'busy', 'failed'] as const;
type Outcome = (typeof pictureOutcomes)[number];

interface TakerParts {
  store: PictureStore;
  incidents: Pick<IncidentSource, 'act' | 'find' | 'catchUp'>;
  /** Resolves to the names of this machine in lower case. */
  listNames(): Promise<readonly string[]>;
  /** Estimates the CPU time that a picture taken now would need, in milliseconds. */
  estimateMs(): Promise<number>;
  /** Takes a picture and resolves to its JSON. */
  capture(): Promise<string>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
  count(outcome: Outcome): void;
}

/** Decides which incidents get a picture, and takes the pictures. */
export class PictureTaker {
  readonly #parts: TakerParts;
  /**
   * Times at which pictures were taken in the last hour, in Unix milliseconds. Undefined until the store has been read.
   */
  #times: number[] | undefined;
  /** Last opening or rise in level that was considered, by incident. Contains only recent incidents. */
  readonly #considered = new Map<string, { opening: string; at: number }>();
  /** Reasons why incidents have no picture. */
  readonly #reasons = new Map<string, string>();
  /** Incidents that wait for the picture that is being taken. */
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

  /** Takes a picture for each incident that has just opened or whose level has just risen. */
  consider(changed: readonly SharedIncident[]): void {
    if (!this.isOn || this.#isClosed) return;
    const now = this.#parts.clock().getTime();
    for (const [id, { at }] of this.#considered) {
      if (Math.abs(now - at) <= recentMs) break;
      this.#considered.delete(id);
    }
    for (const incident of changed) {
      if (!needsPicture(incident) || Math.abs(now - becameBadAt(incident)) > recentMs) continue;
      const opening = `${incident.openings} ${incident.raisedAt}`;
      if (this.#considered.get(incident.id)?.opening === opening) continue;
      this.#considered.set(incident.id, { opening, at: now });
      this.#waiting.push(incident);
    }
    this.#wake();
  }

  /** Returns the reason why an incident has no picture, as a clause. */
  async explain(incident: SharedIncident): Promise<string> {
    const known = this.#reasons.get(incident.id);
    if (incident.snapshot) return `the picture was deleted, because only the newest ${maxKept} pictures are kept`;
    if (rankOf(incident.highestLevel) > rankOf('ERROR')) return 'the incident was never of level ERROR or CRITICAL';
    if (known !== undefined) return known;
    if (!this.isOn) return 'the setting snapshots is off';
    if (!(await this.#parts.listNames()).includes(incident.hostname.toLowerCase())) {
      return incident.hostname === ''
        ? 'the alerts of the incident have no host name'
        : `only signalbox on ${incident.hostname}, the host of the incident, can take a picture`;
    }
    return 'no picture was taken when the incident opened';
  }

  /** Deletes the pictures of deleted incidents. Adds stored pictures to incidents that do not show them yet. */
  async sweep(): Promise<void> {
    const { store, incidents } = this.#parts;
    const all = await store.list();
    // The incident may have been opened by another instance.
    await incidents.catchUp();
    for (const { incident: id, at } of all) {
      const incident = await incidents.find(id);
      if (!incident) await store.delete(id);
      // The process was killed after it stored the picture.
      else if (!incident.snapshot) await this.#show(id, at, true);
      if (this.#isClosed) return;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Does not wait for a picture that is being taken.
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
        if (!this.#isFailing) this.#parts.log.warn({ err }, 'pictures: a picture could not be taken');
        this.#isFailing = true;
        for (const incident of this.#waiting.splice(0))
          this.#leaveOut(incident, 'failed', 'the picture could not be taken or stored');
      }
    }
  }

  /** Takes one picture for all incidents that open before the picture is complete. */
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
    if (cpuMs > maxCpuMs) {
      const reason = `a picture would have taken ${Math.round(cpuMs)} ms of CPU time, more than the limit of ${maxCpuMs} ms`;
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
    for (const { incident, at: takenAt } of await store.listSurplus(maxKept)) {
      // Incidents must not show a picture that is about to be deleted.
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

  /** Returns the number of pictures that may still be taken this hour. */
  #countLeft(): number {
    const now = this.#parts.clock().getTime();
    this.#times = this.#times?.filter((at) => Math.abs(now - at) < hourMs) ?? [];
    return Math.max(0, maxPerHour - this.#times.length);
  }

  #refuse(incident: SharedIncident): void {
    this.#leaveOut(incident, 'limit', `at most ${maxPerHour} pictures are taken in an hour`);
  }

  #leaveOut({ id }: SharedIncident, outcome: Outcome, reason: string): void {
    this.#parts.count(outcome);
    this.#reasons.set(id, reason);
    const [oldest] = this.#reasons.keys();
    if (this.#reasons.size > maxReasons && oldest !== undefined) this.#reasons.delete(oldest);
  }
}

const needsPicture = ({ state, level, snapshot, isOld, hostname }: SharedIncident): boolean =>
  state !== 'resolved' && snapshot === null && !isOld && hostname !== '' && rankOf(level) <= rankOf('ERROR');

/** Returns the time at which the incident last opened or its level last rose, in Unix milliseconds. */
const becameBadAt = ({ state, openedAt, stateSince, raisedAt }: SharedIncident): number =>
  Math.max(openedAt, state === 'open' ? stateSince : 0, raisedAt ?? 0);
