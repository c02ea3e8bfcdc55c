import { defineCall } from '../api.ts';

/** All measurements, in the text format of Prometheus. */
export const readMetrics = defineCall<string>({ profile: 'metrics', method: 'GET', path: '/metrics', shape: 'string' });

/** Alerts that wait to be written to the log; undefined if the measurements do not say. */
export const findQueued = (metrics: string): number | undefined => {
  const [, count] = /^signalbox_journal_queue_records\{journal="alerts"\} (\d+)$/m.exec(metrics) ?? [];
  return count === undefined ? undefined : Number(count);
};

/** Milliseconds since 1970 when the machine was started; undefined if the measurements do not say. */
export const findBootTime = (metrics: string): number | undefined => {
  const [, seconds] = /^signalbox_host_boot_time_seconds (\S+)$/m.exec(metrics) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
};
