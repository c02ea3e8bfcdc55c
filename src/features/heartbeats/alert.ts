import type { AlertSource } from '../../kit/alert-source.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import { cutStart } from '../../lib/well-formed.ts';
import type { HeartbeatProblem, HeartbeatState } from './heartbeat-state.ts';
import type { KnownHeartbeat } from './kind.ts';

export type HeartbeatAlert = Parameters<AlertSource['raise']>[0];

const maxDetailsLength = 4096;

const defaultLevel = 'ERROR';

/** Describes the alert for a heartbeat that is down. */
export const describeDown = (
  known: KnownHeartbeat,
  state: HeartbeatState,
  problem: HeartbeatProblem,
): HeartbeatAlert => {
  const { level = defaultLevel, description } = known.definition;
  const output = problem.why === 'failed' ? findOutput(state, problem) : null;
  const details = [description, output].filter(Boolean).join('\n\n');
  return {
    ...createCommon(known.name, known.definition.tags),
    level,
    status: 'firing',
    message: describeProblem(known, state, problem),
    ...(details && { details: keepEnd(details) }),
  };
};

/** Describes the resolution of an alert. Without a definition, the heartbeat has been deleted. */
export const describeUp = (
  known: KnownHeartbeat | undefined,
  { name, since, paused }: HeartbeatState,
  { alert, level }: { alert: string; level: string },
): HeartbeatAlert => {
  const isGone = known?.since !== since;
  const how = isGone ? 'was deleted' : paused ? `was paused by ${paused.by}` : 'is up again';
  return {
    ...createCommon(name, known?.definition.tags),
    level: 'INFO',
    status: 'resolved',
    message: `Heartbeat ${name} ${how}`,
    resolves: alert,
    firingLevel: level,
  };
};

/** Format of heartbeat alerts. */
export const heartbeatFormat = 'heartbeat';

const prefix = 'heartbeat/';

/** Returns the name of the heartbeat that an alert concerns. */
export const toHeartbeatName = (fingerprint: string): string => fingerprint.slice(prefix.length);

/** Returns the fields of a heartbeat's alerts that silences can match. */
export const toSubject = ({ name, definition: { level = defaultLevel, tags } }: KnownHeartbeat) => {
  const { source, hostname, labels } = createCommon(name, tags);
  return { source, hostname, level, text: `Heartbeat ${name}`, labels };
};

/** Returns the fields common to both alerts. The host name is empty, because the job may run on any machine. */
const createCommon = (name: string, tags: readonly string[] = []) => ({
  source: prefix + name,
  hostname: '',
  format: heartbeatFormat,
  fingerprint: prefix + name,
  labels: { heartbeat: name, ...(tags.length > 0 && { tags: tags.join(', ') }) },
});

/** Returns the message about a heartbeat that is down. */
export const describeProblem = (
  { name, definition }: KnownHeartbeat,
  { lastSuccessAt }: HeartbeatState,
  { why, exitCode, dueAt }: HeartbeatProblem,
): string => {
  if (why === 'failed') return `Heartbeat ${name} failed${exitCode === null ? '' : ` with exit code ${exitCode}`}`;
  if (why === 'long') return `Heartbeat ${name} has been running for more than ${definition.maxRunMinutes} min`;
  const last = lastSuccessAt === null ? 'no success yet' : `last success at ${toLocalMinute(lastSuccessAt)}`;
  return `Heartbeat ${name} is late: due at ${toLocalMinute(dueAt ?? 0)}, ${last}`;
};

/** Returns the output of the failed run. */
const findOutput = ({ runs }: HeartbeatState, { at }: HeartbeatProblem): string | null =>
  runs.findLast((run) => run.result === 'failure' && run.endedAt === at)?.output ?? null;

const keepEnd = (text: string): string =>
  text.length > maxDetailsLength ? `…${cutStart(text, maxDetailsLength - 1)}` : text;
