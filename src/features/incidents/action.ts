import { HttpError } from '../../http/errors.ts';
import type { SharedAction } from '../../kit/incident-source.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import type { StoredIncident } from './incident.ts';

/** Actions that only the routes of incidents offer. */
type OwnAction = { id: string; by: string } & (
  | { type: 'reopen' }
  | { type: 'comment'; comment: string }
  | { type: 'task'; task: number }
);

/** A change to an incident by a person or another feature, at a time in Unix milliseconds. */
export type Action = { at: number } & (SharedAction | OwnAction);

/** An action without its time, which the store adds. */
export type ActionOn<T extends Action = Action> = T extends Action ? Omit<T, 'at'> : never;

/** Returns the error for a change to an incident that has changed since the caller read it. */
export const toStaleness = ({ version }: StoredIncident): StoreConflict =>
  new StoreConflict('The incident has changed since: read it again', version);

/** Returns the error for a second task of an incident. */
export const refuseSecondTask = ({ number, task }: StoredIncident): HttpError =>
  new HttpError('wrong-state', `Incident #${number} has task ${task} already`);
