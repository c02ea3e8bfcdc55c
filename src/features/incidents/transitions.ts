import { addSpan } from './alert-spans.ts';
import type { Draft } from './draft.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';

/** Maximum number of open and acknowledged incidents. Further alerts are counted in a single incident. */
export const mostActive = 20_000;

type Details = Pick<StoredEvent, 'comment' | 'alert'>;

/** Acknowledgement of an incident. Times are Unix milliseconds. */
interface Acknowledgement {
  by: string;
  at: number;
  comment?: string | undefined;
  until?: number | undefined;
}

/** Acknowledges an incident. If it is already acknowledged, replaces the author, end and comment. */
export const acknowledge = (
  draft: Draft,
  incident: StoredIncident,
  { by, at, comment, until }: Acknowledgement,
  details: Pick<Details, 'alert'> = {},
): StoredIncident => {
  const isOpen = incident.state === 'open';
  if (isOpen) draft.measured.toAcknowledge.push(Math.max(0, at - incident.stateSince));
  const changed = draft.change(
    incident,
    {
      acknowledged: { by, at, until: until ?? null, comment: comment ?? null },
      ...(isOpen && { state: 'acknowledged', stateSince: at }),
    },
    { at, type: 'acknowledged', by, ...toComment(comment), ...(until !== undefined && { until }), ...details },
  );
  draft.noteDue(changed);
  return changed;
};

export const resolve = (
  draft: Draft,
  incident: StoredIncident,
  resolved: NonNullable<StoredIncident['resolved']>,
  details: Details = {},
): StoredIncident => {
  const { at, by, reason } = resolved;
  draft.counters.active -= 1;
  draft.measured.toResolve.push(Math.max(0, at - incident.openedAt));
  const event = { at, type: 'resolved', by, reason, ...details } as const;
  return draft.change(incident, { state: 'resolved', stateSince: at, resolved }, event);
};

/** Reopens an acknowledged or resolved incident. `seq` is the seq of the alert that reopens a resolved incident. */
export const reopen = (
  draft: Draft,
  incident: StoredIncident,
  event: StoredEvent,
  changes: Partial<StoredIncident> = {},
  seq?: number,
): StoredIncident => {
  const isResolved = incident.state === 'resolved';
  if (isResolved) draft.counters.active += 1;
  const changed = draft.change(
    incident,
    {
      state: 'open',
      stateSince: event.at,
      acknowledged: null,
      resolved: null,
      reopened: incident.reopened + 1,
      openings: incident.openings + 1,
      raisedAt: null,
      ...(isResolved && { openedAt: event.at, spans: addSpan(incident.spans, seq) }),
      ...changes,
    },
    event,
  );
  draft.noteDue(changed);
  return changed;
};

/**
 * Applies the change that is due for an incident: its acknowledgement expires, or it is resolved because its alerts
 * stopped.
 */
export const expire = (draft: Draft, incident: StoredIncident, at: number): void => {
  const { state, acknowledged, reopened } = incident;
  if (state === 'acknowledged' && acknowledged?.until === at)
    reopen(draft, incident, { at, type: 'snoozeEnded' }, { reopened });
  else resolve(draft, incident, { by: null, at, reason: 'quiet' });
};

export const toComment = (comment: string | undefined): { comment?: string } =>
  comment === undefined ? {} : { comment };
