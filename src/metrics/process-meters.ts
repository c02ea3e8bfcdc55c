import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Meters } from './meters.ts';

const microsecondsPerSecond = 1e6;

/** What Prometheus client libraries report of their process. */
export const addProcessMeters = ({ reading: add }: Meters): void => {
  const cpu = (name: 'user' | 'system') => process.cpuUsage()[name] / microsecondsPerSecond;
  add('counter', 'process_cpu_user_seconds_total', 'User processor time of this process.', () => cpu('user'));
  add('counter', 'process_cpu_system_seconds_total', 'System processor time of this process.', () => cpu('system'));
  add(
    'counter',
    'process_cpu_seconds_total',
    'User and system processor time of this process.',
    () => cpu('user') + cpu('system'),
  );
  const startedAt = Date.now() / 1000 - process.uptime();
  add('gauge', 'process_start_time_seconds', 'Unix time at which this process was started.', () => startedAt);
  add('gauge', 'process_resident_memory_bytes', 'Resident memory of this process.', () => process.memoryUsage.rss());
  add('gauge', 'nodejs_heap_size_used_bytes', 'Used part of the heap.', () => process.memoryUsage().heapUsed);
  add(
    'counter',
    'nodejs_eventloop_active_seconds_total',
    'Time in which the event loop was not waiting for events.',
    () => performance.eventLoopUtilization().active / 1000,
  );
  if (process.platform !== 'linux') return;
  add('gauge', 'process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  add('gauge', 'process_max_fds', 'Limit on open file descriptors.', () =>
    readNumber('limits', /^Max open files +(\d+)/m),
  );
  add(
    'gauge',
    'process_virtual_memory_bytes',
    'Virtual memory of this process.',
    () => readNumber('status', /^VmSize:\s+(\d+) kB/m) * 1024,
  );
};

const readNumber = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(`/proc/self/${file}`, 'utf8'))?.[1]);
