import { HttpError } from '../../http/errors.ts';
import type { IncidentCause } from '../../kit/incident.ts';
import type { IncidentDelivery, SharedAction } from '../../kit/incident-source.ts';
import { rankOf } from '../../kit/severity.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { addComment, address, escalate, takeOver } from './address.ts';
import type { Draft } from './draft.ts';
import type { StoredIncident } from './incident.ts';
import { acknowledge, mostActive, reopen, resolve, toComment } from './transitions.ts';

/** Actions available only through incident routes. */
type OwnAction = { id: string; by: string } & (
  | { type: 'reopen' }
  | { type: 'takeOver'; comment?: string | undefined }
  /** Comment by a person. `mentions` are names of users. */
  | { type: 'comment'; comment: string; mentions?: readonly string[] }
  | { type: 'task'; task: number }
);

/** Change to an incident by a person or another feature. `at` is in Unix milliseconds. */
export type Action = { at: number } & (SharedAction | OwnAction);

/** Action without its time. The store adds the time. */
export type ActionOn<T extends Action = Action> = T extends Action ? Omit<T, 'at'> : never;

/** Creates the error for an incident that has changed since the caller read it. */
export const toStaleness = ({ version }: StoredIncident): StoreConflict =>
  new StoreConflict('The incident was changed in the meantime: read the incident again', version);

/** Creates the error for a second task for an incident. */
export const refuseSecondTask = ({ number, task }: StoredIncident): HttpError =>
  new HttpError('wrong-state', `Incident #${number} already has task ${task}`);

/** Applies an action. See `Fold.act`. */
export const applyAction = (
  draft: Draft,
  incident: StoredIncident,
  action: Action,
  expected?: readonly number[],
): StoredIncident => {
  if (expected && !expected.includes(incident.version)) throw toStaleness(incident);
  const { at, by } = action;
  switch (action.type) {
    case 'acknowledge':
      assertUnresolved(incident);
      return acknowledge(draft, incident, action);
    case 'takeOver':
      assertUnresolved(incident);
      return takeOver(draft, incident, action);
    case 'resolve':
      if (incident.state === 'resolved') return incident;
      return resolve(draft, incident, { by, at, reason: 'person' }, toComment(action.comment));
    case 'reopen':
      if (incident.state === 'open') return incident;
      if (incident.state === 'resolved') assertMayReopen(draft, incident);
      return reopen(draft, incident, { at, type: 'reopened', by });
    case 'comment':
      return addComment(draft, incident, action);
    case 'task':
      if (incident.task !== null) throw refuseSecondTask(incident);
      return draft.change(incident, { task: action.task }, { at, type: 'taskCreated', by, task: action.task });
    case 'notify':
      return recordNotification(draft, incident, action);
    case 'attempt':
      return recordAttempt(draft, incident, action);
    case 'forget':
      return forgetNotifications(draft, incident, action.destinations);
    case 'escalate':
      return escalate(draft, incident, action);
    case 'address':
      if (action.reason === 'responder') assertUnresolved(incident);
      return address(draft, incident, action);
    case 'silence':
      return recordSilence(draft, incident, action);
    case 'inhibit':
      return recordCause(draft, incident, action);
    case 'snapshot':
      return recordPicture(draft, incident, action);
  }
};

const assertUnresolved = ({ state, number }: StoredIncident): void => {
  if (state === 'resolved')
    throw new HttpError('wrong-state', `Incident #${number} is resolved: reopen the incident first`);
};

const assertMayReopen = (draft: Draft, incident: StoredIncident): void => {
  const latest = draft.findLatest(incident.key);
  if (latest && latest.id !== incident.id) {
    const clause = latest.state === 'resolved' ? 'reopen the newer incident' : 'the newer incident is not resolved';
    throw new HttpError(
      'wrong-state',
      `Incident #${latest.number} is a newer incident about the same problem: ${clause}`,
    );
  }
  if (draft.counters.active >= mostActive) {
    throw new HttpError('wrong-state', `${mostActive} incidents are open: resolve one before you reopen another`);
  }
};

/** Records a notification that was delivered, or that the destination permanently refused. */
const recordNotification = (
  draft: Draft,
  incident: StoredIncident,
  {
    at,
    destination,
    what,
    level,
    opening,
    result,
    isDelivered,
    isEscalation,
    times,
  }: IncidentDelivery & { at: number },
): StoredIncident => {
  const known = incident.notices[destination];
  const isTold = isDelivered || known?.isTold === true;
  // A notification that does not answer an address event, such as `raised`, leaves earlier answers valid.
  const answered = times ?? (known?.opening === opening ? known.times : undefined);
  const type = what === 'reminder' ? what : isEscalation ? 'escalated' : 'notified';
  const changed = draft.addEvent(incident, { at, type, what, level, destination, result });
  const notices = draft.editNotifications(changed);
  delete notices[destination];
  // Without its entry in `notices`, the destination is notified again when the incident reopens.
  if (what !== 'resolved')
    notices[destination] = { what, level, at, opening, isTold, ...(answered !== undefined && { times: answered }) };
  return changed;
};

/** Records that the first notification to a destination is being sent. Adds no timeline event. */
const recordAttempt = (
  draft: Draft,
  incident: StoredIncident,
  { at, destination }: { at: number; destination: string },
): StoredIncident => {
  if (incident.notices[destination]) return incident;
  const changed = draft.touch(incident);
  const { level } = changed;
  const notice = { what: 'opened', level, at, opening: 0, isTold: false, isPending: true } as const;
  draft.editNotifications(changed)[destination] = notice;
  return changed;
};

const forgetNotifications = (
  draft: Draft,
  incident: StoredIncident,
  destinations: readonly string[],
): StoredIncident => {
  const known = destinations.filter((name) => Object.hasOwn(incident.notices, name));
  if (known.length === 0) return incident;
  const changed = draft.touch(incident);
  const notices = draft.editNotifications(changed);
  for (const name of known) delete notices[name];
  return changed;
};

/** Records a silence once per opening and once per rise in level. */
const recordSilence = (
  draft: Draft,
  incident: StoredIncident,
  { at, by }: { at: number; by: string },
): StoredIncident => {
  const { state, silenced, level, openings } = incident;
  const isRecorded = silenced && silenced.opening === openings && rankOf(silenced.level) <= rankOf(level);
  if (state === 'resolved' || isRecorded) return incident;
  const changed = draft.addEvent(incident, { at, type: 'silenced', by, level });
  changed.silenced = { level, opening: openings };
  return changed;
};

/** Records a cause once per opening. */
const recordCause = (
  draft: Draft,
  incident: StoredIncident,
  { at, cause }: { at: number; cause: IncidentCause },
): StoredIncident => {
  const { state, inhibited, openings: opening } = incident;
  const isRecorded = inhibited?.opening === opening && inhibited.cause.id === cause.id;
  if (state === 'resolved' || isRecorded) return incident;
  const changed = draft.addEvent(incident, { at, type: 'inhibited', by: `incident #${cause.number}, ${cause.name}` });
  changed.inhibited = { cause, opening };
  return changed;
};

/** Records the incident's only picture of the machine, or the deletion of that picture. */
const recordPicture = (
  draft: Draft,
  incident: StoredIncident,
  { at, by, takenAt, isKept }: Extract<Action, { type: 'snapshot' }>,
): StoredIncident => {
  const { snapshot } = incident;
  if (isKept ? snapshot !== null : !snapshot?.isKept) return incident;
  const changed = isKept ? draft.addEvent(incident, { at, type: 'snapshotTaken', by }) : draft.touch(incident);
  changed.snapshot = { at: takenAt, isKept };
  return changed;
};
