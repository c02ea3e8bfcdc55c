import type { AlertSource } from '../../kit/alert-source.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import type { KnownHeartbeat } from './definition.ts';
import type { HeartbeatProblem, HeartbeatState } from './runs.ts';

type Raised = Parameters<AlertSource['raise']>[0];

/** The most characters of an alert's details. */
const mostDetails = 4096;

const usualLevel = 'ERROR';

/** The alert of a heartbeat that is down. */
export const describeDown = (known: KnownHeartbeat, state: HeartbeatState, problem: HeartbeatProblem): Raised => {
  const { level = usualLevel, description } = known.definition;
  const output = problem.why === 'failed' ? findOutput(state, problem) : null;
  const details = [description, output].filter(Boolean).join('\n\n');
  return {
    ...createCommon(known.name, known.definition.tags),
    level,
    status: 'firing',
    message: toMessage(known, state, problem),
    ...(details && {
      details:
        details.length > mostDetails ? `…${details.slice(1 - mostDetails).replace(/^[\udc00-\udfff]/, '')}` : details,
    }),
  };
};

/** The alert that resolves it; without a definition it was deleted. */
export const describeUp = (
  known: KnownHeartbeat | undefined,
  { name, since, paused }: HeartbeatState,
  { alert, level }: { alert: string; level: string },
): Raised => {
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

/** What alerts of heartbeats have as their format. */
export const heartbeatFormat = 'heartbeat';

const prefix = 'heartbeat/';

/** The heartbeat that an alert with this fingerprint is about. */
export const toHeartbeatName = (fingerprint: string): string => fingerprint.slice(prefix.length);

/** It says nothing of a machine: the job may run on any. */
const createCommon = (name: string, tags: readonly string[] = []) => ({
  source: prefix + name,
  hostname: '',
  format: heartbeatFormat,
  fingerprint: prefix + name,
  labels: { heartbeat: name, ...(tags.length > 0 && { tags: tags.join(', ') }) },
});

const toMessage = (
  { name, definition }: KnownHeartbeat,
  { lastSuccessAt }: HeartbeatState,
  { why, exitCode, dueAt }: HeartbeatProblem,
): string => {
  if (why === 'failed') return `Heartbeat ${name} failed${exitCode === null ? '' : ` with exit code ${exitCode}`}`;
  if (why === 'long') return `Heartbeat ${name} has been running for more than ${definition.maxRunMinutes} minutes`;
  const last =
    lastSuccessAt === null ? 'it has never succeeded' : `its last success was at ${toLocalMinute(lastSuccessAt)}`;
  return `Heartbeat ${name} is late: it was due at ${toLocalMinute(dueAt ?? 0)}, ${last}`;
};

/** The end of the output of the run that has failed. */
const findOutput = ({ runs }: HeartbeatState, { at }: HeartbeatProblem): string | null =>
  runs.findLast((run) => run.result === 'failure' && run.endedAt === at)?.output ?? null;
