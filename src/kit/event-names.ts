/** Names of timeline events whose names differ from their types. */
const names = new Map([
  ['snoozeEnded', 'acknowledgement ended'],
  ['taskCreated', 'task created'],
  ['snapshotTaken', 'picture taken'],
]);

/** Returns the name of a timeline event for people: `task created` for `taskCreated`. */
export const toEventName = (type: string): string => names.get(type) ?? type;
