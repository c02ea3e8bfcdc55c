import type { SharedAction, SharedIncident } from '../../../kit/incident-source.ts';

/** Milliseconds after which actions that could not be stored are tried again. */
const retryMs = 1000;

/** How many actions are stored at the same time. */
const mostActions = 500;

interface ActionQueueParts {
  /** Stores an action; undefined if its incident is gone. */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** Gets the incident as it is then. */
  onStored(action: SharedAction, incident: SharedIncident | undefined): void;
  /** Called each time that some actions have been tried. */
  onTried(): void;
}

interface WaitingAction {
  action: SharedAction;
  resolve(): void;
}

/** What notifications do to incidents, stored some at a time, each until that has worked. */
export class ActionQueue {
  readonly #parts: ActionQueueParts;
  readonly #waiting: WaitingAction[] = [];
  /** Those of `addOnce` that are stored at present, or wait for it. */
  readonly #asked = new Set<string>();
  #isStoring = false;
  #isClosed = false;

  constructor(parts: ActionQueueParts) {
    this.#parts = parts;
  }

  /** Resolves once it is stored, or the queue is closed. */
  add(action: SharedAction): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ action, resolve });
      this.#store();
    });
  }

  /** Once, until it is stored. */
  addOnce(action: SharedAction): void {
    const name = JSON.stringify(action);
    if (this.#asked.has(name)) return;
    this.#asked.add(name);
    this.#waiting.push({ action, resolve: () => this.#asked.delete(name) });
    this.#store();
  }

  close(): void {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  #store(): void {
    if (this.#isStoring || this.#isClosed || this.#waiting.length === 0) return;
    this.#isStoring = true;
    const failed: WaitingAction[] = [];
    const storeOne = async (waiting: WaitingAction): Promise<void> => {
      const { action, resolve } = waiting;
      try {
        this.#parts.onStored(action, await this.#parts.act(action));
        resolve();
      } catch {
        failed.push(waiting);
      }
    };
    void Promise.all(this.#waiting.splice(0, mostActions).map(storeOne)).then(() => {
      this.#isStoring = false;
      this.#waiting.unshift(...failed);
      this.#parts.onTried();
      if (failed.length > 0) setTimeout(() => this.#store(), retryMs).unref();
      else this.#store();
    });
  }
}
