import { signal } from '@preact/signals';
import type { Incident } from 'signalbox/client';
import { userClient } from '../api.ts';
import { toCount } from '../format.ts';
import { toApiError } from '../live/resource.ts';
import { text } from '../strings/index.ts';
import { notify } from '../ui/toast.tsx';

const words = text.incidents;

/** Characters of a title in a message. */
const mostNamed = 60;

/** What a dialog asks for before it is done, and about which incidents. */
interface Question {
  kind: 'snooze' | 'comment';
  incidents: readonly Incident[];
}

export const question = signal<Question | undefined>(undefined);

/** Counts what this page has changed: lists read again without waiting for an event. */
export const changes = signal(0);

/** The title of one incident, or how many there are. */
export const toName = (incidents: readonly Incident[]): string => {
  const [only] = incidents;
  if (!only || incidents.length > 1) return words.many(toCount(incidents.length));
  return only.title.length > mostNamed ? `${only.title.slice(0, mostNamed)}…` : only.title;
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
    undo: (changed) => reopenAll(changed.filter(({ state }) => state === 'open')),
  });

export const resolve = (incidents: readonly Incident[]): Promise<void> =>
  changeAll(incidents, {
    one: ({ id }) => userClient.resolveIncident({ id }),
    many: (ids) => userClient.resolveIncidents({ ids }),
    said: words.resolved,
    undo: reopenAll,
  });

export const reopen = (incident: Incident): Promise<void> =>
  changeAll([incident], {
    one: ({ id }) => userClient.reopenIncident({ id }),
    said: words.reopened,
    undo: ([before]) =>
      before?.state === 'acknowledged' ? acknowledge([before]) : before ? resolve([before]) : Promise.resolve(),
  });

/** Resolves to true if the comment was added. */
export const comment = (incident: Incident, said: string): Promise<boolean> =>
  attempt(async () => {
    await userClient.commentOnIncident({ id: incident.id, comment: said });
    notify(words.commented);
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
  /** Takes it back; receives the incidents as they were. */
  undo: (changed: readonly Incident[]) => Promise<void>;
}

/** The most incidents of one request. */
const mostIds = 500;

/** Changes incidents, says so, and offers to take it back. */
const changeAll = async (incidents: readonly Incident[], { one, many, said, undo }: Change): Promise<void> => {
  const chosen = incidents.slice(0, mostIds);
  const [first] = chosen;
  if (!first) return;
  let changed = chosen;
  const isDone = await attempt(async () => {
    if (chosen.length === 1 || !many) {
      await one(first);
      return;
    }
    const { data } = await many(chosen.map(({ id }) => id));
    changed = chosen.filter((_, index) => data[index]?.status === 200);
    const failed = data.find(({ status }) => status !== 200);
    if (failed) {
      const count = toCount(chosen.length - changed.length);
      notify(words.notChanged(count, failed.error ?? ''), { kind: 'failure' });
    }
  });
  if (!isDone || changed.length === 0) return;
  notify(said(toName(changed)), { action: { label: text.undo, run: () => void undo(changed) } });
};

const reopenAll = async (incidents: readonly Incident[]): Promise<void> => {
  await attempt(async () => {
    for (const { id } of incidents) await userClient.reopenIncident({ id });
  });
};

/** Runs what the user has asked for; if it fails, says why and resolves to false. */
const attempt = async (run: () => Promise<void>): Promise<boolean> => {
  try {
    await run();
    return true;
  } catch (error) {
    const { problem, message } = toApiError(error);
    if (problem !== 'login') notify(message, { kind: 'failure' });
    return false;
  } finally {
    changes.value += 1;
  }
};
