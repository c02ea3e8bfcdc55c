import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { History, Topics } from 'signalbox/client';
import { type ApiError, client } from '../api.ts';
import { subscribe } from '../live/live.ts';
import { toApiError } from '../live/resource.ts';
import { isMounted } from '../routes.ts';
import { append, noSamples, type Samples, type Span, spans, toSamples } from '../ui/samples.ts';

/** Seconds from one value of the server's history to the next. */
const steps = { live: 1, day: 10 } as const;

/** What is known of each span; kept while other screens are shown. */
const known = { live: signal(noSamples), day: signal(noSamples) };

/** Why the last attempt failed. */
export const historyError = signal<ApiError | undefined>(undefined);

/** The disks as they were last read, in bytes; undefined until then. */
export const disks = signal<{ mountPath: string; used: number; total: number }[] | undefined>(undefined);

/** Readings of the machine over time, newest last, kept current. */
export const useHistory = (span: Span): Samples => {
  useEffect(() => {
    let isRunning = false;
    const read = async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        await (isMounted('getHistory') ? readHistory(span) : readPresent(span));
        historyError.value = undefined;
      } catch (reason) {
        // What cannot be read now is read when the connection is back.
        historyError.value = toApiError(reason);
      }
      isRunning = false;
    };
    void read();
    const onResync = () => void read();
    if (!isMounted('getHistory')) return subscribe('host', { onEvent: (data) => addReading(span, data), onResync });
    return subscribe('history', { onEvent: (data) => addHistory(span, data), onResync });
  }, [span]);
  return known[span].value;
};

/** Reads what is newer than the newest value known. */
const readHistory = async (span: Span): Promise<void> => {
  const step = steps[span];
  const last = known[span].peek().times.at(-1);
  const since = last === undefined ? undefined : String(last + step);
  addHistory(span, await client.getHistory({ step, since }));
};

/** Adds what the route or the topic says. */
const addHistory = (span: Span, history: History): void => {
  if (history.step !== steps[span]) return;
  known[span].value = append(known[span].peek(), toSamples(history), spans[span]);
  const latest = history.disks.flatMap(({ mountPath, used, total }) => {
    const [full, whole] = [findLast(used), findLast(total)];
    return full === null || !whole ? [] : [{ mountPath, used: full, total: whole }];
  });
  if (latest.length > 0 || history.disks.length === 0) disks.value = latest;
};

const findLast = (values: (number | null)[]): number | null => values.findLast((value) => value !== null) ?? null;

/** For servers without history: what comes in while the page is open. */
const addReading = (span: Span, { cpu, memoryUsed, memoryTotal }: Topics['host']): void => {
  if (memoryUsed === null || memoryTotal === null) return;
  addColumns(span, { cpu: [cpu && cpu * 100], memory: [(memoryUsed / memoryTotal) * 100] });
};

const readPresent = async (span: Span): Promise<void> => {
  const { cpuUsage, memoryUsage } = await client.getHealth();
  addColumns(span, { cpu: [Number.parseFloat(cpuUsage)], memory: [Number.parseFloat(memoryUsage)] });
};

const addColumns = (span: Span, columns: Samples['columns']): void => {
  const times = [Math.floor(Date.now() / 1000)];
  known[span].value = append(known[span].peek(), { times, columns }, spans[span]);
};
