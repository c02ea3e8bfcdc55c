import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Settings } from '../../config/schema.ts';
import { clearProgress } from '../progress.ts';
import { escapeControls } from '../stdio.ts';

/** Maximum size in bytes of lines waiting to be written. Further lines are dropped. */
const maxWaitingBytes = 1024 * 1024;

/**
 * Creates the log: readable lines on standard error in a terminal, otherwise JSON. A full disk, a closed terminal or a
 * stalled reader must not stop the server. Lines that could not be written are retried together with the next line.
 */
export const createLog = (level: Settings['logLevel']): FastifyBaseLogger => {
  // Opened first, so that writing to a full pipe fails instead of blocking.
  const { isTTY } = process.stderr;
  const destination = pino.destination({ dest: 2, sync: true, maxLength: maxWaitingBytes, retryEAGAIN: () => false });
  destination.on('error', () => undefined);
  // Leaves out flushSync, because pino would call it after a fatal error, and it retries as long as the disk is full.
  const write = (line: string): void => {
    clearProgress();
    destination.write(isTTY ? toReadable(line) : line);
  };
  return pino({ level }, { write });
};

/** Formats a JSON log line as `09:30:00.250 WARN  message  key="value"`, in local time. */
export const toReadable = (line: string): string => {
  const { time, level, msg, pid: _pid, hostname: _hostname, ...details } = JSON.parse(line) as Entry;
  const date = new Date(time);
  const clock = `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  const name = (pino.levels.labels[level] ?? String(level)).toUpperCase();
  const pairs = Object.entries(details).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${escapeControls([clock, name.padEnd(5), [msg, ...pairs].join('  ')].join(' '))}\n`;
};

interface Entry extends Record<string, unknown> {
  time: number;
  level: number;
  msg?: string;
}
