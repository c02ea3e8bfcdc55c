import { randomUUID } from 'node:crypto';
import { HttpError } from '../../http/errors.ts';
import type { RemoteOutput, RemoteResult } from '../../kit/offers.ts';

/** Maximum number of waiting and running commands per host. */
const mostWaiting = 16;

/** Command line sent to a host in the response to its report. */
export interface SentCommand {
  id: string;
  line: string;
  /** Caller at the hub, and id of the request, for the audit on the host. */
  by: string | null;
  requestId: string;
}

interface Pending extends SentCommand {
  isSent: boolean;
  settle(result: RemoteResult): void;
}

/** Commands that have been sent to hosts, and their results. */
export class HostCommands {
  readonly #pending = new Map<string, Pending[]>();

  /**
   * Resolves to the output of a command on a host. Rejects with the signal's reason, or with an HttpError if the
   * command cannot be run.
   */
  run(host: string, command: Omit<SentCommand, 'id'>, signal: AbortSignal): Promise<RemoteResult> {
    const waiting = this.#pending.get(host) ?? [];
    if (waiting.length >= mostWaiting) throw new HttpError('unavailable', `Too many commands are waiting for ${host}`);
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

  /** Returns the commands for a host that have not been sent yet. */
  take(host: string): SentCommand[] {
    const fresh = (this.#pending.get(host) ?? []).filter(({ isSent }) => !isSent);
    for (const each of fresh) each.isSent = true;
    return fresh.map(({ id, line, by, requestId }) => ({ id, line, by, requestId }));
  }

  /** Delivers the result of a command. Returns false if no caller is waiting for it. */
  settle(host: string, id: string, result: RemoteOutput | { error: string }): boolean {
    const found = this.#pending.get(host)?.find((each) => each.id === id);
    found?.settle(result);
    return found !== undefined;
  }
}
