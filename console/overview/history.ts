import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type ApiError, send } from '../api.ts';
import { getHistory } from '../calls/history.ts';
import { getMachine, listDisks } from '../calls/host.ts';
import { subscribe } from '../live/live.ts';
import { toApiError } from '../live/resource.ts';
import { isMounted } from '../mounts.ts';
import { append, noSamples, type Samples, type Span, spans, toSamples } from './samples.ts';

/** Seconds from one value of the server's history to the next. */
const steps: Record<Span, number> = { live: 1, day: 10 };

/** What is known of each span; kept while other screens are shown. */
const known = { live: signal(noSamples), day: signal(noSamples) };

/** When each was last read, in milliseconds. */
const readAt: Record<Span, number> = { live: Number.NEGATIVE_INFINITY, day: Number.NEGATIVE_INFINITY };
/** The share of a step after which there may be another value. */
const least = 0.9;

/** Why the last attempt failed. */
export const historyError = signal<ApiError | undefined>(undefined);

/** Readings of the machine over time, newest last, kept current. */
export const useHistory = (span: Span): Samples => {
  useEffect(() => {
    let isRunning = false;
    const read = async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        await (isMounted(getHistory) ? readHistory(span) : readPresent(span));
        historyError.value = undefined;
      } catch (reason) {
        // What cannot be read now is read with the next event.
        historyError.value = toApiError(reason);
      }
      isRunning = false;
    };
    void read();
    return subscribe('host', { onEvent: () => void read(), onResync: () => void read() });
  }, [span]);
  return known[span].value;
};

/** Reads what is newer than the newest value known. */
const readHistory = async (span: Span): Promise<void> => {
  const step = steps[span];
  if (performance.now() - readAt[span] < least * step * 1000) return;
  const last = known[span].value.times.at(-1);
  const since = last === undefined ? undefined : last + step;
  const history = await send(getHistory, { query: { step, since } });
  readAt[span] = performance.now();
  known[span].value = append(known[span].value, toSamples(history), spans[span]);
};

/** For servers without history: what is read while the page is open. */
const readPresent = async (span: Span): Promise<void> => {
  const [machine, disks] = await Promise.all([send(getMachine), send(listDisks)]);
  const columns: Samples['columns'] = {
    cpu: [Number.parseFloat(machine.cpuUsage)],
    memory: [Number.parseFloat(machine.memoryUsage)],
  };
  for (const { drive, usagePct } of disks.data) columns[`disk ${drive}`] = [usagePct];
  known[span].value = append(known[span].value, { times: [Math.floor(Date.now() / 1000)], columns }, spans[span]);
};
