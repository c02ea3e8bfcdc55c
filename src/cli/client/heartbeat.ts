import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { UsageError } from '../args.ts';
import { say } from '../stdio.ts';
import { type AlertServer, exchange, explainFailure, parseObject } from './server.ts';
import { StateFolder, tolerate } from './state-folder.ts';

/** Milliseconds for one attempt, and between two. */
const attemptMs = 10_000;
const waitMs = 1000;

/** Statuses of a server, or of a proxy in front of it, that may take the ping later. */
const passing = new Set([408, 429, 502, 503, 504]);

/** A ping that could not be delivered. Its path may be secret, so only its user may read the folder. */
interface KeptPing {
  /** The server that it is for. */
  url: string;
  path: string;
  body: string;
}

const spool = new StateFolder('pings');

/** The UUID of a heartbeat, or its name. Throws a UsageError. */
export const readAddress = (address: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(address)) return address;
  throw new UsageError('--heartbeat must be the UUID of a heartbeat, or its name');
};

/** Tells the server how one run of a command stands. Nothing here stops the command, or shows the address. */
export const createHeartbeatReport = (server: AlertServer, address: string, retryForMs: number) => {
  const rid = randomUUID();
  const toPath = (signal: string | number): string => `ping/${address}/${signal}?rid=${rid}`;
  const stop = new AbortController();
  let end: KeptPing | undefined;
  /** Pings are sent one after the other. */
  let turn: Promise<unknown> = Promise.resolve();
  const keep = (ping: KeptPing, at: Date): void => {
    const late = { ...ping, body: `${ping.body}\n(sent late; it happened at ${at.toISOString()})` };
    const file = `${String(at.getTime()).padStart(16, '0')}-${randomUUID()}.json`;
    tolerate('the ping is lost', () => spool.write(file, JSON.stringify(late)));
  };
  const sendEnd = async (ping: KeptPing, at: Date): Promise<void> => {
    const deadline = performance.now() + retryForMs;
    let unsent = await send(server, ping, stop.signal);
    while (unsent?.isPassing && performance.now() < deadline && !stop.signal.aborted) {
      await setTimeout(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
      unsent = await send(server, ping, stop.signal);
    }
    // An interruption has kept it.
    if (end === undefined) return;
    end = undefined;
    if (!unsent) return;
    say(`the heartbeat was not sent: ${unsent.reason}${unsent.isPassing ? '; it is kept for the next run' : ''}`);
    if (unsent.isPassing) keep(ping, at);
  };
  return {
    start: (): void => {
      turn = deliverKeptPings(server, stop.signal).then((isAway) =>
        // The end says everything; its start only makes it complete.
        isAway ? undefined : send(server, { url: '', path: toPath('start'), body: '' }, stop.signal),
      );
    },
    end: (exitCode: number, body: string): void => {
      const ping = { url: server.url.href, path: toPath(Math.min(exitCode, 255)), body };
      const at = new Date();
      end = ping;
      turn = turn.then(() => sendEnd(ping, at));
    },
    /** Keeps what was not delivered yet, before the process ends. */
    interrupt: (): void => {
      stop.abort();
      if (end) keep(end, new Date());
      end = undefined;
    },
    /** Resolves once everything was sent or kept. */
    finish: () => turn,
  };
};

/** Undefined once it is on the server's disk; otherwise why not, and whether that may pass. */
const send = async (
  { url, key }: AlertServer,
  { path, body }: KeptPing,
  signal: AbortSignal,
): Promise<{ reason: string; isPassing: boolean } | undefined> => {
  if (signal.aborted) return { reason: 'interrupted', isPassing: true };
  const headers = { 'content-type': 'text/plain', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  try {
    const reply = await exchange(new URL(path, url), { method: 'POST', headers, body, timeoutMs: attemptMs });
    if (reply.status === 200 || reply.status === 201) return undefined;
    const { error } = parseObject(reply.text);
    const reason = `${url.origin} responded ${reply.status}${typeof error === 'string' ? `: ${error}` : ''}`;
    return { reason, isPassing: passing.has(reply.status) };
  } catch (error) {
    return { reason: `${url.origin}: ${explainFailure(error)}`, isPassing: true };
  }
};

/** Delivers what is kept for a server, the oldest first; resolves to whether it is away. Never rejects. */
const deliverKeptPings = async (server: AlertServer, signal: AbortSignal): Promise<boolean> => {
  for (const file of tolerate('kept pings are not delivered', () => spool.list()) ?? []) {
    if (!file.endsWith('.json')) continue;
    const kept = parseKept(tolerate('a kept ping is not delivered', () => spool.read(file)) ?? '');
    if (kept?.url !== server.url.href) continue;
    const unsent = await send(server, kept, signal);
    if (unsent?.isPassing) return true;
    if (unsent) say(`a kept ping was refused: ${unsent.reason}`);
    tolerate('a kept ping will be sent again', () => spool.remove(file));
  }
  return false;
};

/** Undefined for a text that was not written here. */
const parseKept = (text: string): KeptPing | undefined => {
  try {
    const { url, path, body } = JSON.parse(text) as KeptPing;
    return typeof url === 'string' && typeof body === 'string' && /^ping\/[\w./-]+\?rid=[\da-f-]{36}$/.test(path)
      ? { url, path, body }
      : undefined;
  } catch {
    return undefined;
  }
};
