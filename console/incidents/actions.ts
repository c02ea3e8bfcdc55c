import { signal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { userClient } from '../api.ts';
import { now } from '../clock.ts';
import { shorten, toCount } from '../format.ts';
import { notifyFailure } from '../live/run.ts';
import { text } from '../strings/index.ts';
import { notify } from '../ui/toast.tsx';

const words = text.incidents;

/** Maximum number of characters of a title that a message shows. */
const mostNamed = 60;

/** Question in an open dialog, with the incidents that it is about. */
interface Question {
  kind: 'snooze' | 'comment' | 'responder' | 'announce';
  incidents: readonly Incident[];
}

export const question = signal<Question | undefined>(undefined);

/** Number of changes made by this page. When it increases, lists reload without waiting for an event. */
export const changes = signal(0);

/** Returns the title of a single incident, or the number of incidents. */
export const toIncidentName = (incidents: readonly Incident[]): string => {
  const [only] = incidents;
  if (!only || incidents.length > 1) return words.many(toCount(incidents.length));
  return shorten(only.title, mostNamed);
};

export interface Acknowledging {
  until?: string;
  comment?: string;
}

export const acknowledge = (incidents: readonly Incident[], more: Acknowledging = {}): Promise<void> =>
  changeAll(incidents, {
    one: ({ id }) => userClient.acknowledgeIncident({ id, ...more }),
    many: (ids) => userClient.acknowledgeIncidents({ ids, ...more }),
    said: words.acknowledged,
    undo: (before) => restoreAll(before, (one) => (one.state === 'open' ? reopenAgain(one) : acknowledgeAgain(one))),
  });

export const resolve = (incidents: readonly Incident[]): Promise<void> =>
  changeAll(incidents, {
    one: ({ id }) => userClient.resolveIncident({ id }),
    many: (ids) => userClient.resolveIncidents({ ids }),
    said: words.resolved,
    undo: (before) =>
      restoreAll(before, async (one) => {
        await reopenAgain(one);
        if (one.state === 'acknowledged') await acknowledgeAgain(one);
      }),
  });

export const reopen = (incident: Incident): Promise<void> =>
  changeAll([incident], {
    one: ({ id }) => userClient.reopenIncident({ id }),
    said: words.reopened,
    undo: (before) =>
      restoreAll(before, (one) =>
        one.state === 'acknowledged' ? acknowledgeAgain(one) : userClient.resolveIncident({ id: one.id }),
      ),
  });

/** Adds a comment. Resolves to true on success. */
export const comment = (incident: Incident, said: string): Promise<boolean> =>
  attempt(async () => {
    await userClient.commentOnIncident({ id: incident.id, comment: said });
    notify(words.commented);
  });

/** Takes over the incident from the person who acknowledged it. */
export const takeOver = (incident: Incident): Promise<boolean> =>
  attempt(async () => {
    await userClient.takeOverIncident({ id: incident.id });
    notify(words.takenOver(toIncidentName([incident])));
  });

/** Asks a person to help. Resolves to true on success. */
export const addResponder = (incident: Incident, person: string, said: string): Promise<boolean> =>
  attempt(async () => {
    const comment = said.trim();
    await userClient.addResponders({ id: incident.id, people: [person], ...(comment && { comment }) });
    notify(words.responders.asked(person));
  });

/** Takes the next step of the incident's escalation policy immediately. */
export const escalate = (incident: Incident, names: string): Promise<boolean> =>
  attempt(async () => {
    await userClient.escalateIncident({ id: incident.id });
    notify(words.escalation.done(names));
  });

export const createTask = (incident: Incident): Promise<boolean> =>
  attempt(async () => {
    const { task } = await userClient.createIncidentTask({ id: incident.id });
    if (task !== null) notify(words.taskCreated(task));
  });

interface Change {
  one: (incident: Incident) => Promise<unknown>;
  many?: (ids: string[]) => Promise<{ data: { status: number; error: string | null }[] }>;
  said: (name: string) => string;
  /** Reverts the action. Receives the incidents as they were before it. */
  undo: (changed: readonly Incident[]) => Promise<void>;
}

/** Maximum number of incidents in a request. */
const mostIds = 500;

/** Changes incidents, shows a message, and offers to undo the change. */
const changeAll = async (incidents: readonly Incident[], { one, many, said, undo }: Change): Promise<void> => {
  const [first] = incidents;
  if (!first) return;
  const changed: Incident[] = [];
  await attempt(async () => {
    if (incidents.length === 1 || !many) {
      await one(first);
      changed.push(first);
      return;
    }
    const errors: (string | null)[] = [];
    for (let at = 0; at < incidents.length; at += mostIds) {
      const chosen = incidents.slice(at, at + mostIds);
      const { data } = await many(chosen.map(({ id }) => id));
      changed.push(...chosen.filter((_, index) => data[index]?.status === 200));
      errors.push(...data.filter(({ status }) => status !== 200).map(({ error }) => error));
    }
    if (errors.length > 0) notify(words.notChanged(toCount(errors.length), errors[0] ?? ''), { kind: 'failure' });
  });
  if (changed.length === 0) return;
  notify(said(toIncidentName(changed)), { action: { label: text.undo, run: () => void undo(changed) } });
};

const restoreAll = async (before: readonly Incident[], restore: (one: Incident) => Promise<unknown>): Promise<void> => {
  await attempt(async () => {
    for (const one of before) await restore(one);
  });
};

const reopenAgain = ({ id }: Incident): Promise<unknown> => userClient.reopenIncident({ id });

/** Restores an acknowledgement, unless it has expired. */
const acknowledgeAgain = async ({
  id,
  acknowledgedUntil: until,
  acknowledgedComment: comment,
}: Incident): Promise<void> => {
  if (until !== null && Date.parse(until) <= now()) return;
  await userClient.acknowledgeIncident({ id, ...(until !== null && { until }), ...(comment !== null && { comment }) });
};

/** Runs an action for the user. On failure, shows the reason and resolves to false. */
const attempt = async (run: () => Promise<void>): Promise<boolean> => {
  try {
    await run();
    return true;
  } catch (error) {
    notifyFailure(error);
    return false;
  } finally {
    changes.value += 1;
  }
};
