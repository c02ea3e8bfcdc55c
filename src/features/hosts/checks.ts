import type { CheckReading, CheckSource } from '../../kit/availability.ts';
import type { Severity } from '../../kit/severity.ts';
import type { Silenceable } from '../../kit/silence-source.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { Fleet } from './fleet.ts';
import { describeSilent, toHostFields, toSilentMark } from './host-alerts.ts';
import type { HostWatch } from './host-watch.ts';
import type { HostKeeper, KnownHost } from './kind.ts';

interface CheckParts {
  keeper: HostKeeper;
  fleet: Pick<Fleet, 'find' | 'onReport'>;
  watch: Pick<HostWatch, 'judge' | 'findAlert'>;
  lease: Pick<Lease, 'isHeld'>;
  silentMs(): number;
  silentLevel(): Severity;
  isRead(): boolean;
  clock: () => Date;
}

/** Creates the source of host states for the availability feature. A silent host counts as down. */
export const createHostChecks = (parts: CheckParts): CheckSource => {
  const { keeper, fleet, lease, silentLevel, isRead } = parts;
  return {
    kind: 'host',
    listDefined: () => (isRead() ? keeper.list() : undefined),
    find: (name) => {
      const known = keeper.find(name);
      return known && { createdAt: createdAtOf(known), subject: toSubject(known, silentLevel()) };
    },
    listPlaces: () => (lease.isHeld() ? [''] : []),
    read: (name) => {
      const known = keeper.find(name);
      const reading = known && readHost(known, parts);
      return reading && { createdAt: createdAtOf(known), place: '', ...reading };
    },
    onChanged: (listener) => {
      fleet.onReport(listener);
      keeper.onChanged(() => listener(undefined));
    },
  };
};

const createdAtOf = ({ setting }: KnownHost): number => setting?.createdAt ?? 0;

const toSubject = ({ name, tags }: KnownHost, level: Severity): Silenceable => {
  const { source, hostname, labels } = toHostFields(name, toSilentMark(name), tags);
  return { source, hostname, level, text: name, labels };
};

/** Returns the state of a host. Undefined until it is clear whether the host or this server is the cause. */
const readHost = (
  known: KnownHost,
  { fleet, watch, silentMs, clock }: CheckParts,
): Pick<CheckReading, 'state' | 'at' | 'cause'> | undefined => {
  const now = clock().getTime();
  const host = fleet.find(known.name);
  const { state } = watch.judge(known.name);
  if (!host || state === 'new' || state === 'stopped') return { state: 'unknown', at: now };
  if (state !== 'silent') {
    // After this server has started, a host is unknown until its next report.
    return { state: host.isHub || now - host.at < silentMs() ? 'up' : 'unknown', at: now };
  }
  const alert = watch.findAlert(known.name);
  if (alert === 'own') return { state: 'down', at: host.at, cause: describeSilent(known, host).message };
  return alert && { state: 'unknown', at: host.at };
};
