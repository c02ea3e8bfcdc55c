import { readFileSync, writeFileSync } from 'node:fs';

const kibibytesInMebibyte = 1024;

/** Starts measuring the memory of a process. The returned function returns its peak growth in MiB. Linux only. */
export const watchMemory = (pid: number): (() => number) => {
  // Resets the peak to the current value, because most of the peak comes from startup.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = readPeak(pid);
  return () => readPeak(pid) - before;
};

const readPeak = (pid: number): number => {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kibibytes) / kibibytesInMebibyte;
};
