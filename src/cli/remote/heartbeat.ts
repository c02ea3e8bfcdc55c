import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { UsageError } from '../args.ts';
import { say } from '../stdio.ts';
import { type AlertServer, callServer, isPassingStatus } from './server.ts';
import { toLateText, tolerate, UnsentFolder } from './state-folder.ts';

/** Milliseconds for one attempt, and milliseconds between two attempts. */
const attemptMs = 10_000;
const waitMs = 1000;

/** Undelivered ping. Only the user may read the folder, because the path of a ping may be secret. */
interface KeptPing {
  /** Server that the ping is for. */
  url: string;
  path: string;
  body: string;
}

const spool = new UnsentFolder<KeptPing>(
  'pings',
  'ping',
  ({ path, body }) => typeof body === 'string' && /^ping\/[\w./-]+\?rid=[\da-f-]{36}$/.test(path),
);

/** Returns the UUID or name of a heartbeat. Throws a UsageError for any other text. */
export const readAddress = (address: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(address)) return address;
  throw new UsageError('--heartbeat must be the UUID of a heartbeat, or its name');
};

/** Reports one run of a command to the server. A failed report never stops the command. */
export interface RunReport {
  /** Reports that the run is taking too long. */
  late(text: string): void;
  /** Reports the end of the run. `text` contains the title and the last output. */
  end(ending: { exitCode: number; isFailure: boolean; title: string; text: string }): void;
  /** Stores undelivered reports before the process ends. */
  interrupt(): void;
  /** Resolves once everything has been sent or kept. */
  finish(): Promise<unknown>;
}

/** Creates a report that pings a heartbeat, starting now. The address of the heartbeat is never shown. */
export const createHeartbeatReport = (server: AlertServer, address: string, retryForMs: number): RunReport => {
  const rid = randomUUID();
  const toPath = (signal: string | number): string => `ping/${address}/${signal}?rid=${rid}`;
  let end: KeptPing | undefined;
  /** Pings are sent one after the other. */
  let turn: Promise<unknown> = deliverKeptPings(server).then((isAway) =>
    // The final ping suffices. The start ping only adds the duration.
    isAway ? undefined : send(server, { path: toPath('start'), body: '' }),
  );
  const keep = (ping: KeptPing, at: Date): void => {
    tolerate('the ping is lost', () => spool.keep({ ...ping, body: toLateText(ping.body, at) }, at));
  };
  const sendEnd = async (ping: KeptPing, at: Date): Promise<void> => {
    const deadline = performance.now() + retryForMs;
    let unsent = await send(server, ping);
    while (unsent?.isPassing && performance.now() < deadline) {
      await setTimeout(waitMs);
      unsent = await send(server, ping);
    }
    end = undefined;
    if (!unsent) return;
    say(`the ping was not sent: ${unsent.reason}${unsent.isPassing ? '; the next run retries' : ''}`);
    if (unsent.isPassing) keep(ping, at);
  };
  return {
    late: () => undefined,
    end: ({ exitCode, text }) => {
      const ping = { url: server.url.href, path: toPath(Math.min(exitCode, 255)), body: text };
      const at = new Date();
      end = ping;
      turn = turn.then(() => sendEnd(ping, at));
    },
    interrupt: () => {
      if (end) keep(end, new Date());
    },
    finish: () => turn,
  };
};

/**
 * Sends a ping. Resolves to undefined once the ping is on the server's disk. After a failure, resolves to the reason
 * and to whether the failure may be temporary.
 */
const send = async (server: AlertServer, { path, body }: Pick<KeptPing, 'path' | 'body'>) => {
  const { status, reason } = await callServer(server, path, { method: 'POST', body, timeoutMs: attemptMs });
  if (status === 200 || status === 201) return undefined;
  return { reason, isPassing: status === 0 || isPassingStatus(status) };
};

/** Delivers pings kept for a server, oldest first. Resolves to true if the server is unreachable. Never rejects. */
const deliverKeptPings = async (server: AlertServer): Promise<boolean> => {
  for (const { kept, remove } of spool.listFor(server.url.href)) {
    const unsent = await send(server, kept);
    if (unsent?.isPassing) return true;
    if (unsent) say(`the server refused a ping that was stored on disk: ${unsent.reason}`);
    remove();
  }
  return false;
};
