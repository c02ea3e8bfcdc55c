import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { History, Topics } from 'signalbox/client';
import { type ApiError, client, isForbidden } from '../api.ts';
import { subscribe } from '../live/live.ts';
import { toApiError } from '../live/resource.ts';
import { isMounted } from '../routes.ts';
import { session } from '../session.ts';
import { merge, noSamples, type Samples, type Span, spans, toSamples } from '../ui/samples.ts';

/** Seconds between values of the server's history. */
const steps = { live: 1, day: 10 } as const;

/** Readings loaded for each span. They are kept while other screens are shown. */
const known = { live: signal(noSamples), day: signal(noSamples) };

/** Reason for the last failure. */
export const historyError = signal<ApiError | undefined>(undefined);

/** Disks in the last reading, in bytes. Undefined until loaded. */
export const disks = signal<{ mountPath: string; used: number; total: number }[] | undefined>(undefined);

/** Time up to which history has been loaded. Readings from events may be newer, with a gap in between. */
const readUntil: Partial<Record<Span, number>> = {};

/** Readings of the machine over time, newest last, updated live. */
export const useHistory = (span: Span): Samples => {
  const token = session.value?.token;
  useEffect(() => {
    const aborted = new AbortController();
    let isRunning = false;
    const read = async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        await (isMounted('getHistory') ? readHistory(span, aborted.signal) : readPresent(span, aborted.signal));
        historyError.value = undefined;
      } catch (reason) {
        // A failed request is repeated after reconnecting.
        if (!aborted.signal.aborted) fail(toApiError(reason));
      }
      isRunning = false;
    };
    void read();
    const onResync = () => void read();
    const leave = isMounted('getHistory')
      ? subscribe('history', { onEvent: (data) => addHistory(span, data), onResync })
      : subscribe('host', { onEvent: (data) => addReading(span, data), onResync });
    return () => {
      leave();
      aborted.abort();
    };
  }, [span, token]);
  return known[span].value;
};

/** Sets the reason for a failure. If the session has ended, removes readings that only users may see. */
const fail = (error: ApiError): void => {
  historyError.value = error;
  if (!isForbidden(error)) return;
  for (const span of ['live', 'day'] as const) {
    known[span].value = noSamples;
    delete readUntil[span];
  }
  disks.value = undefined;
};

/** Loads readings newer than the loaded history. */
const readHistory = async (span: Span, signal: AbortSignal): Promise<void> => {
  const step = steps[span];
  const last = readUntil[span];
  const since = last === undefined ? undefined : String(last + step);
  const history = await client.getHistory({ step, since }, { signal });
  addHistory(span, history);
  if (history.count > 0) readUntil[span] = Math.round(Date.parse(history.start) / 1000) + (history.count - 1) * step;
};

/** Merges history received from the route or the topic. */
const addHistory = (span: Span, history: History): void => {
  if (history.step !== steps[span]) return;
  known[span].value = merge(known[span].peek(), toSamples(history), spans[span]);
  const latest = history.disks.flatMap(({ mountPath, used, total }) => {
    const [full, whole] = [findLast(used), findLast(total)];
    return full === null || !whole ? [] : [{ mountPath, used: full, total: whole }];
  });
  if (latest.length > 0 || history.disks.length === 0) disks.value = latest;
};

const findLast = (values: (number | null)[]): number | null => values.findLast((value) => value !== null) ?? null;

/** Adds live readings, for servers without history. */
const addReading = (span: Span, { cpu, memoryUsed, memoryTotal }: Topics['host']): void => {
  if (memoryUsed === null || memoryTotal === null) return;
  addColumns(span, { cpu: [cpu && cpu * 100], memory: [(memoryUsed / memoryTotal) * 100] });
};

const readPresent = async (span: Span, signal: AbortSignal): Promise<void> => {
  const { cpuUsage, memoryUsage } = await client.getHealth(undefined, { signal });
  addColumns(span, { cpu: [Number.parseFloat(cpuUsage)], memory: [Number.parseFloat(memoryUsage)] });
};

const addColumns = (span: Span, columns: Samples['columns']): void => {
  const times = [Math.floor(Date.now() / 1000)];
  known[span].value = merge(known[span].peek(), { times, columns }, spans[span]);
};
