import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { HeartbeatBody } from '../../../features/heartbeats/definition.ts';
import { ImportError } from './documents.ts';
import { CheckPlan } from './planned-check.ts';

/** Check in the list returned by the management API, https://healthchecks.io/docs/api/. */
const Check = Type.Object({
  name: Type.String(),
  slug: Type.Optional(Type.String()),
  tags: Type.Optional(Type.String()),
  desc: Type.Optional(Type.String()),
  grace: Type.Number(),
  timeout: Type.Optional(Type.Number()),
  schedule: Type.Optional(Type.String()),
  tz: Type.Optional(Type.String()),
  ping_url: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
});
type Check = Static<typeof Check>;

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Plans a heartbeat for each check of healthchecks. Its address differs only in the host name, so jobs have to change
 * nothing else.
 */
export const planHealthchecks = (document: unknown): CheckPlan => {
  const { checks } = (document ?? {}) as { checks?: unknown };
  if (!Array.isArray(checks))
    throw new ImportError('the export has no list "checks": pass a response of /api/v3/checks/');
  const plan = new CheckPlan();
  for (const check of checks as unknown[]) {
    if (!Value.Check(Check, check)) plan.leftOut.push('a check has no name or no grace time');
    else plan.add(check.name || check.slug || 'check', () => convert(check));
  }
  return plan;
};

const convert = (check: Check) => {
  const heartbeat = toHeartbeat(check);
  if (typeof heartbeat === 'string') return heartbeat;
  const notes = [
    ...(heartbeat.uuid ? [] : ['gets a new address, because a read-only API key does not reveal the old address']),
  ];
  return { heartbeat, isPaused: check.status === 'paused', notes };
};

/** Converts a check to a definition. Returns the reason if the check cannot be imported. */
const toHeartbeat = ({
  schedule,
  tz,
  timeout,
  grace,
  tags = '',
  desc = '',
  ping_url = '',
}: Check): HeartbeatBody | string => {
  const words = tags.split(/\s+/).filter((tag) => tag !== '');
  const [address] = uuid.exec(ping_url) ?? [];
  if (schedule === undefined && timeout === undefined) return 'neither a period nor a schedule is set';
  if (schedule !== undefined && schedule.trim().split(/\s+/).length !== 5)
    return `the schedule "${schedule}" is not a cron expression of five fields`;
  const times =
    schedule === undefined
      ? { period: Math.max(10, Math.round(timeout ?? 0)) }
      : { schedule, ...(tz !== undefined && { timeZone: tz }) };
  return {
    ...times,
    grace: Math.max(1, Math.round(grace)),
    ...(desc !== '' && { description: desc.slice(0, 4000) }),
    ...(words.length > 0 && { tags: words.slice(0, 20).map((tag) => tag.slice(0, 100)) }),
    ...(address !== undefined && { uuid: address.toLowerCase() }),
  };
};
