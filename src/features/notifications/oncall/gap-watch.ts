import type { FastifyBaseLogger } from 'fastify';
import type { AlertSource } from '../../../kit/alert-source.ts';
import type { Concern } from '../../../kit/feature.ts';
import { StoreUnavailable } from '../../../lib/expected-errors.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import type { Period } from './layer.ts';
import type { Rotations } from './rotations.ts';

/** Milliseconds before a gap at which the gap is reported. */
const aheadMs = 7 * dayMs;

/** Milliseconds between two searches for gaps. Changes to rotations trigger a search immediately. */
const lookMs = minuteMs;

/** Format of alerts about gaps, and prefix of their fingerprints. */
const gapFormat = 'oncall';
const markPrefix = 'rotation/';

const level = 'WARNING';

interface GapWatchParts {
  rotations: Rotations;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  /** Lease of the instance that raises alerts on behalf of all instances. */
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  /** Counts the rotations that name a person without an account. */
  countUnknown(): number;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Finds times in the next seven days when nobody is on call. Raises an alert for each affected rotation, and resolves
 * it when the gap is gone.
 */
export class GapWatch {
  readonly #parts: GapWatchParts;
  /** First gap in the next seven days, by rotation. */
  #gaps: ReadonlyMap<string, Period> = new Map();
  /** Ids of firing alerts by fingerprint; undefined until the log has been read. */
  #firing: Map<string, string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: GapWatchParts) {
    this.#parts = parts;
    parts.lease.onChanged(() => {
      this.#firing = undefined;
    });
  }

  start(): void {
    this.#parts.rotations.onChanged(() => void this.look());
    this.#timer = setInterval(() => void this.look(), lookMs).unref();
    void this.look();
  }

  /** Searches for gaps now, and raises and resolves alerts. Never rejects. */
  look(): Promise<void> {
    this.#gaps = this.#findGaps();
    this.#working = this.#working
      .then(() => this.#update())
      .catch((err) => {
        if (!(err instanceof StoreUnavailable))
          this.#parts.log.warn({ err }, 'oncall: alerts about gaps cannot be stored');
      });
    return this.#working;
  }

  findConcerns(): Concern[] {
    const now = this.#parts.clock().getTime();
    const gaps = [...this.#gaps.values()].filter(({ endsAt }) => endsAt > now);
    const present = gaps.filter(({ startsAt }) => startsAt <= now).length;
    const found: [count: number, severity: Concern['severity'], text: string][] = [
      [present, 'ERROR', `Nobody is on call now in ${countRotations(present)}`],
      [
        gaps.length - present,
        level,
        `In the next 7 days, there are times when nobody is on call in ${countRotations(gaps.length - present)}`,
      ],
      [
        this.#parts.countUnknown(),
        level,
        `Users that do not exist are members of ${countRotations(this.#parts.countUnknown())}`,
      ],
    ];
    return found.flatMap(([count, severity, text]) => (count > 0 ? [{ area: 'deliveries', severity, text }] : []));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#working;
  }

  #findGaps(): ReadonlyMap<string, Period> {
    const now = this.#parts.clock().getTime();
    const people = this.#parts.rotations.list().filter(({ kind }) => kind === 'person');
    return new Map(
      people.flatMap((rotation) => {
        const gap = rotation.findGap(now, now + aheadMs);
        return gap ? [[rotation.name, gap]] : [];
      }),
    );
  }

  async #update(): Promise<void> {
    const { alerts, lease } = this.#parts;
    if (this.#isClosed || !lease.isHeld()) return;
    this.#firing ??= new Map(
      Array.from(await alerts.listRaised(gapFormat)).flatMap(([mark, { id, isResolved }]) =>
        isResolved ? [] : [[mark, id]],
      ),
    );
    const firing = this.#firing;
    for (const [name, gap] of this.#gaps) {
      if (firing.has(markPrefix + name)) continue;
      const { id } = await alerts.raise({
        ...toCommon(name),
        level,
        status: 'firing',
        message: describeGap(name, gap),
      });
      firing.set(markPrefix + name, id);
    }
    for (const [mark, id] of firing) {
      const name = mark.slice(markPrefix.length);
      if (this.#gaps.has(name)) continue;
      const message = this.#parts.rotations.find(name)
        ? `Somebody is on call in ${name} for the next 7 days`
        : `Rotation ${name} was deleted`;
      await alerts.raise({
        ...toCommon(name),
        level: 'INFO',
        status: 'resolved',
        message,
        resolves: id,
        firingLevel: level,
      });
      firing.delete(mark);
    }
  }
}

const toCommon = (name: string) => ({
  source: markPrefix + name,
  hostname: '',
  format: gapFormat,
  fingerprint: markPrefix + name,
  labels: { rotation: name },
});

const describeGap = (name: string, { startsAt, endsAt }: Period): string =>
  [
    `Nobody is on call in ${name}`,
    Number.isFinite(startsAt) ? `from ${toLocalMinute(startsAt)}` : '',
    Number.isFinite(endsAt) ? `until ${toLocalMinute(endsAt)}` : '',
  ]
    .filter(Boolean)
    .join(' ');

const countRotations = (count: number): string => (count === 1 ? '1 rotation' : `${count} rotations`);
