import type { Static } from 'typebox';
import { ClientError, createCallSender, isPassingError, pause, toRetryDelay } from '../../client/send.ts';
import { followEvents } from '../../client/streams.ts';
import type { AlertEntry, AlertPage } from '../../features/alerts/schema.ts';
import { say } from '../stdio.ts';
import { type AskedQuery, toUnusableResponse } from './ask.ts';
import { type AlertServer, explainFailure, explainStatus } from './server.ts';

/** Maximum milliseconds between two attempts. */
const longestDelay = 30_000;

/** Requests a page of alerts. */
export type AlertSearch = (query: AskedQuery) => Promise<Static<typeof AlertPage>>;

export interface FollowedAlerts {
  /** Last alert that was shown or skipped as too old. */
  last: { seq: number; time: string };
  accepts(row: AlertEntry): boolean;
  /** Lists matching alerts between two seqs in pages, newest first. */
  listBetween(search: AlertSearch, after: number, before: number): AsyncIterable<AlertEntry[]>;
  show(rows: readonly AlertEntry[]): void;
}

/** Shows each stored alert once, reconnecting as needed. Rejects if the server refuses the request. */
export const followAlerts = async (
  server: AlertServer,
  { last, accepts, listBetween, show }: FollowedAlerts,
): Promise<undefined> => {
  const { url, key } = server;
  const send = createCallSender({ url: url.href, retries: 0 });
  const { signal } = new AbortController();
  const request = {
    method: 'GET',
    isRepeatable: true,
    signal,
    ...(key !== undefined && { tokens: { get: async () => key, renew: async () => undefined } }),
  };
  let isAway = false;
  /** Retries until the server responds. Rejects if the server refuses the request. */
  const insist = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (let failures = 0; ; failures += 1) {
      try {
        const result = await attempt();
        if (isAway) say(`${url.origin}: reconnected`);
        isAway = false;
        return result;
      } catch (error) {
        if (!(error instanceof ClientError && isPassingError(error))) throw error;
        if (!isAway) say(`${url.origin}: ${explain(error)}; trying again`);
        isAway = true;
        await pause(Math.max((error.retryAfter ?? 0) * 1000, toRetryDelay(failures, longestDelay)), signal);
      }
    }
  };
  const open = (lastId: string | undefined): Promise<Response> =>
    insist(async () => {
      const headers = { 'Last-Event-ID': lastId };
      const query = { topics: 'alerts' };
      const { response } = await send({ ...request, path: '/api/events', query, headers, isStream: true });
      if (response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
      await response.body?.cancel();
      throw new ClientError('format', 'the server sent no event stream', { response });
    });
  const search: AlertSearch = (query) =>
    insist(async () => {
      const { data } = await send({ ...request, path: '/api/alerts/search', query });
      return data as Awaited<ReturnType<AlertSearch>>;
    });
  /** Shows the alerts stored since the last alert shown, because some of their events may have been missed. */
  const catchUp = async (): Promise<void> => {
    const { data } = await search({ limit: 1 });
    const newest = data[0];
    if (!newest) {
      last.seq = 0;
      return;
    }
    // The log is now shorter, so it is a different log. Only times can tell which alerts are new.
    const isOther = newest.seq < last.seq;
    const isNew = ({ seq, time }: AlertEntry): boolean => (isOther ? (time ?? '') > last.time : seq > last.seq);
    const missed: AlertEntry[] = [];
    for await (const page of listBetween(search, isOther ? 0 : last.seq, newest.seq + 1)) {
      missed.push(...page.filter(isNew));
      if (!page.every(isNew)) break;
    }
    if (missed.length > 0) show(missed.reverse());
    Object.assign(last, { seq: newest.seq, time: newest.time ?? last.time });
  };
  try {
    for await (const { event, data } of followEvents({ open, lastId: `${last.seq}`, signal })) {
      if (event === 'resync') await catchUp();
      if (event !== 'alerts') continue;
      const row: AlertEntry = JSON.parse(data);
      if (row.seq <= last.seq) continue;
      Object.assign(last, { seq: row.seq, time: row.time ?? last.time });
      if (accepts(row)) show([row]);
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw toUnusableResponse(server, {
      status: error.status,
      reason: explainStatus(server, error.status, error.message),
    });
  }
};

/** Explains a failed request, as a clause. */
const explain = ({ status, message, cause }: ClientError): string => {
  if (status > 0) return `the server responded ${status}`;
  const { cause: reason } = Object(cause) as { cause?: unknown };
  return reason === undefined ? message : explainFailure(reason);
};
