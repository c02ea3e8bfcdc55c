import { randomUUID } from 'node:crypto';
import { HttpError } from '../../http/errors.ts';
import type { RemoteResult } from '../../kit/offers.ts';

/** Maximum number of waiting and running commands per host. */
export const mostWaiting = 16;

/** Command line sent to a host in the response to its report. */
export interface SentCommand {
  id: string;
  line: string;
  /** Caller at the hub, and id of the request, for the audit on the host. */
  by: string | null;
  requestId: string;
}

/** Commands for hosts, from the request until the result. */
export interface CommandQueue {
  /**
   * Resolves to the output of a command on a host. Rejects with the signal's reason, or with an HttpError if too many
   * commands are waiting.
   */
  run(host: string, command: Omit<SentCommand, 'id'>, signal: AbortSignal): Promise<RemoteResult>;
  /** Resolves to the commands for a host that have not been sent yet. They then count as sent. */
  take(host: string): Promise<SentCommand[]>;
  /** Delivers the result of a command. Resolves to false if no caller is waiting for the result. */
  settle(host: string, id: string, result: RemoteResult): Promise<boolean>;
}

/** Error for a command of a host for which `mostWaiting` commands are waiting. */
export const createFullError = (host: string): HttpError =>
  new HttpError('unavailable', `Too many commands are waiting for ${host}`);

interface Pending extends SentCommand {
  isSent: boolean;
  settle(result: RemoteResult): void;
}

/** Queue in the memory of a server without other instances. */
export class HostCommands implements CommandQueue {
  readonly #pending = new Map<string, Pending[]>();

  async run(host: string, command: Omit<SentCommand, 'id'>, signal: AbortSignal): Promise<RemoteResult> {
    const waiting = this.#pending.get(host) ?? [];
    if (waiting.length >= mostWaiting) throw createFullError(host);
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      const end = (): void => {
        const rest = (this.#pending.get(host) ?? []).filter((each) => each.id !== id);
        if (rest.length === 0) this.#pending.delete(host);
        else this.#pending.set(host, rest);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        end();
        reject(signal.reason);
      };
      const settle = (result: RemoteResult): void => {
        end();
        resolve(result);
      };
      this.#pending.set(host, [...waiting, { id, ...command, isSent: false, settle }]);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  async take(host: string): Promise<SentCommand[]> {
    const fresh = (this.#pending.get(host) ?? []).filter(({ isSent }) => !isSent);
    for (const each of fresh) each.isSent = true;
    return fresh.map(({ id, line, by, requestId }) => ({ id, line, by, requestId }));
  }

  async settle(host: string, id: string, result: RemoteResult): Promise<boolean> {
    const found = this.#pending.get(host)?.find((each) => each.id === id);
    found?.settle(result);
    return found !== undefined;
  }
}
