import type { FastifyBaseLogger } from 'fastify';
import type { AlertSource } from '../../../kit/alert-source.ts';
import type { Concern } from '../../../kit/feature.ts';
import { createPeriodic } from '../../../kit/periodic.ts';
import { RaisedAlerts } from '../../../kit/raised-alerts.ts';
import { toLocalMinute } from '../../../lib/local-time.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';
import type { Lease } from '../../../storage/postgres/lease.ts';
import type { Period } from './layer.ts';
import type { Rotations } from './rotations.ts';

/** Milliseconds before a gap at which it is reported. */
const aheadMs = 7 * dayMs;

/** Milliseconds between two searches for gaps. A change to a rotation triggers a search immediately. */
const lookMs = minuteMs;

/** Format of alerts about gaps, and prefix of their fingerprints. */
const gapFormat = 'oncall';
const markPrefix = 'rotation/';

const level = 'WARNING';

interface GapWatchParts {
  rotations: Rotations;
  alerts: Pick<AlertSource, 'raise' | 'listRaised'>;
  /** Lease of the instance that raises alerts for all instances. */
  lease: Pick<Lease, 'isHeld' | 'onChanged'>;
  /** Counts the rotations that name a person without an account. */
  countUnknown(): number;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/**
 * Finds times in the next seven days when nobody is on call. Raises an alert for each affected rotation. Resolves the
 * alert when the gap is gone.
 */
export class GapWatch {
  readonly #parts: GapWatchParts;
  readonly #raised: RaisedAlerts;
  readonly #looks = createPeriodic(
    lookMs,
    () => this.#look(),
    (err) => this.#parts.log.warn({ err }, 'oncall: alerts about gaps cannot be stored'),
  );
  /** First gap in the next seven days, by rotation. */
  #gaps: ReadonlyMap<string, Period> = new Map();

  constructor(parts: GapWatchParts) {
    this.#parts = parts;
    this.#raised = new RaisedAlerts(parts.alerts, gapFormat);
    parts.lease.onChanged(() => this.#raised.forget());
  }

  start(): void {
    this.#parts.rotations.onChanged(() => void this.#looks.run());
    this.#looks.start();
  }

  close(): Promise<void> {
    return this.#looks.close();
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

  /** Searches for gaps, and raises and resolves alerts. */
  async #look(): Promise<void> {
    this.#gaps = this.#findGaps();
    if (!this.#parts.lease.isHeld()) return;
    await this.#raised.read();
    const ended = this.#raised.list().flatMap((mark) => {
      const name = mark.slice(markPrefix.length);
      return this.#gaps.has(name) ? [] : [name];
    });
    for (const [name, gap] of this.#gaps) {
      if (this.#raised.isFiring(markPrefix + name)) continue;
      await this.#raised.raise(level, { ...toCommon(name), message: describeGap(name, gap) });
    }
    for (const name of ended) {
      const message = this.#parts.rotations.find(name)
        ? `Somebody is on call in ${name} for the next 7 days`
        : `Rotation ${name} was deleted`;
      await this.#raised.resolve({ ...toCommon(name), message });
    }
  }
}

const toCommon = (name: string) => ({
  source: markPrefix + name,
  hostname: '',
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
