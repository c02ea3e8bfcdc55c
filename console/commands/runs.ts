import { computed, signal } from '@preact/signals';
import type { CommandResult } from 'signalbox/client';
import { type ApiError, userClient } from '../api.ts';
import { toApiError } from '../live/resource.ts';
import { session } from '../session.ts';

/** Command that was run or refused in this session. */
export interface Run {
  number: number;
  line: string;
  /** Host that ran the command. Undefined for this server. */
  host: string | undefined;
  /** URL of the form. */
  address: string;
  /** User who ran the command. Undefined without a login. */
  user: string | undefined;
  startedAt: number;
  milliseconds: number;
  outcome: { rows: number } | { error: ApiError } | 'stopped';
}

/**
 * Milliseconds to wait for a response. A command may wait in a queue and then run up to its time limit of at most 50 s.
 */
const patience = 110_000;
const mostKept = 50;

const all = signal<Run[]>([]);
const latest = signal<{ user: string | undefined; line: string; result: CommandResult } | undefined>(undefined);
const current = signal<AbortController | undefined>(undefined);

const isOwn = ({ user }: { user: string | undefined }): boolean => user === session.value?.name;

/** The current user's commands, newest first. */
export const runs = computed(() => all.value.filter(isOwn));

/** The current user's last result. */
export const shownResult = computed(() => (latest.value && isOwn(latest.value) ? latest.value : undefined));

export const isRunning = computed(() => current.value !== undefined);

/** Stops the running command. The server then ends its process. */
export const stop = (): void => current.value?.abort();

/** Runs a command line here or on a host. Stores the result in `shownResult` and the outcome in `runs`. */
export const runCommand = async (line: string, address: string, host?: string): Promise<void> => {
  if (current.value) return;
  const controller = new AbortController();
  current.value = controller;
  latest.value = undefined;
  const started = { number: (all.value[0]?.number ?? 0) + 1, line, host, address, startedAt: Date.now() };
  const begun = performance.now();
  const outcome = await execute(line, host, controller.signal);
  const milliseconds = Math.round(performance.now() - begun);
  all.value = [{ ...started, user: session.value?.name, milliseconds, outcome }, ...all.value].slice(0, mostKept);
  current.value = undefined;
};

const execute = async (line: string, host: string | undefined, signal: AbortSignal): Promise<Run['outcome']> => {
  try {
    const options = { signal, timeout: patience };
    const result =
      host === undefined
        ? await userClient.runCommand({ command: line }, options)
        : await userClient.runHostCommand({ name: host, command: line }, options);
    latest.value = { user: session.value?.name, line, result };
    return { rows: result.result.length };
  } catch (reason) {
    return signal.aborted ? 'stopped' : { error: toApiError(reason) };
  }
};
