import type { SharedIncident } from '../../../kit/incident.ts';
import type { SharedAction } from '../../../kit/incident-source.ts';

/** Milliseconds before actions that could not be stored are retried. */
const retryMs = 1000;

/** Maximum number of actions stored together. */
const mostActions = 500;

interface ActionQueueParts {
  /** Stores an action. Resolves to undefined if its incident no longer exists. */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** Called with the incident after the action. */
  onStored(action: SharedAction, incident: SharedIncident | undefined): void;
  /** Called after each batch, whether or not it was stored. */
  onAttempted(): void;
}

interface WaitingAction {
  action: SharedAction;
  resolve(): void;
}

/** Stores the incident actions of notifications, up to 500 together. Retries each action until it is stored. */
export class ActionQueue {
  readonly #parts: ActionQueueParts;
  /** Results and attempts of messages. They go first, because a kill would repeat the messages. */
  readonly #messages: WaitingAction[] = [];
  readonly #others: WaitingAction[] = [];
  /** Actions added with `addOnce` and not stored yet, as JSON. */
  readonly #pending = new Set<string>();
  #isStoring = false;
  #isClosed = false;

  constructor(parts: ActionQueueParts) {
    this.#parts = parts;
  }

  /** Adds an action about a message. Resolves once it is stored or the queue is closed. */
  add(action: SharedAction): Promise<void> {
    return new Promise((resolve) => {
      this.#messages.push({ action, resolve });
      this.#store();
    });
  }

  /** Adds another action, unless an identical one is waiting. */
  addOnce(action: SharedAction): void {
    const name = JSON.stringify(action);
    if (this.#pending.has(name)) return;
    this.#pending.add(name);
    // Results and attempts of messages change the state that `forget` removes, so their order counts.
    const list = action.type === 'forget' ? this.#messages : this.#others;
    list.push({ action, resolve: () => this.#pending.delete(name) });
    this.#store();
  }

  close(): void {
    this.#isClosed = true;
    for (const list of [this.#messages, this.#others]) for (const { resolve } of list.splice(0)) resolve();
  }

  #store(): void {
    if (this.#isStoring || this.#isClosed) return;
    const messages = this.#messages.splice(0, mostActions);
    const others = this.#others.splice(0, mostActions - messages.length);
    if (messages.length + others.length === 0) return;
    this.#isStoring = true;
    const failed = new Set<WaitingAction>();
    const storeOne = async (waiting: WaitingAction): Promise<void> => {
      const { action, resolve } = waiting;
      try {
        this.#parts.onStored(action, await this.#parts.act(action));
        resolve();
      } catch {
        failed.add(waiting);
      }
    };
    void Promise.all([...messages, ...others].map(storeOne)).then(() => {
      this.#isStoring = false;
      this.#messages.unshift(...messages.filter((each) => failed.has(each)));
      this.#others.unshift(...others.filter((each) => failed.has(each)));
      this.#parts.onAttempted();
      if (failed.size > 0) setTimeout(() => this.#store(), retryMs).unref();
      else this.#store();
    });
  }
}
