import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import type { Settings } from '../../config/schema.ts';
import { escapeControls } from '../messages.ts';

/** Logs to standard error: readable lines in a terminal, JSON everywhere else. */
export const createLog = (level: Settings['logLevel']): FastifyBaseLogger => {
  const destination = pino.destination({ dest: 2, sync: true });
  // A full disk or a closed terminal must not stop the server.
  destination.on('error', () => undefined);
  return pino({ level }, process.stderr.isTTY ? { write: (line) => destination.write(toReadable(line)) } : destination);
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
