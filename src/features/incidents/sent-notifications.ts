import type { SentFilter, SentNotification } from '../../kit/incident-source.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';

/** Maximum number of notifications listed across all incidents. */
const maxSent = 10_000;

/** Timeline event about a notification, with the id of its incident. */
export interface SentEvent {
  id: string;
  event: StoredEvent;
}

/** Latest notifications across all incidents. */
export class SentNotifications {
  /** Notifications, oldest first if `#isOrdered` is true. */
  #events: SentEvent[] = [];
  #isOrdered = true;

  /** Adds a notification that is newer than all earlier notifications. Ignores other events. */
  add(id: string, event: StoredEvent): void {
    if (event.destination === undefined) return;
    this.#order();
    this.#events.push({ id, event });
    if (this.#events.length > 2 * maxSent) this.#events = this.#events.slice(-maxSent);
  }

  /** Adds the notifications among the events of an incident. They may be older than notifications already added. */
  restore(id: string, events: readonly StoredEvent[]): void {
    for (const event of events) if (event.destination !== undefined) this.#events.push({ id, event });
    this.#isOrdered = false;
  }

  /** Returns all notifications, oldest first. */
  all(): readonly SentEvent[] {
    this.#order();
    return this.#events;
  }

  #order(): void {
    if (this.#isOrdered) return;
    this.#events = this.#events.sort((a, b) => (a.event.change ?? 0) - (b.event.change ?? 0)).slice(-maxSent);
    this.#isOrdered = true;
  }
}

/** Lists notifications before the change `before`, newest first. `find` returns undefined for a forgotten incident. */
export const listSent = (
  events: readonly SentEvent[],
  find: (id: string) => StoredIncident | undefined,
  { destination }: SentFilter,
  limit: number,
  before = Number.POSITIVE_INFINITY,
): SentNotification[] => {
  const found: SentNotification[] = [];
  for (let at = events.length - 1; at >= 0 && found.length < limit; at -= 1) {
    const { id, event } = events[at] as SentEvent;
    const isWanted = destination === undefined || event.destination === destination;
    const incident = isWanted && (event.change ?? before) < before ? find(id) : undefined;
    const sent = incident && toSent(incident, event);
    if (sent) found.push(sent);
  }
  return found;
};

/** Converts a timeline event to a notification. Undefined for other events. */
const toSent = ({ id, number, title }: StoredIncident, event: StoredEvent): SentNotification | undefined => {
  const { type, at, destination, what, level, result, change } = event;
  if (type !== 'notified' && type !== 'escalated' && type !== 'reminder') return undefined;
  if (!destination || !what || !level || !result || change === undefined) return undefined;
  return { incident: { id, number, title }, at, event: type, destination, what, level, result, change };
};
