import { readFileSync, writeFileSync } from 'node:fs';

const kibibytesInMebibyte = 1024;

/** Starts to measure the memory of a process; the function returned says by how many MiB it grew at its peak. Linux only. */
export const watchMemory = (pid: number): (() => number) => {
  // The peak so far, mostly that of startup, becomes what is held now.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = readPeak(pid);
  return () => readPeak(pid) - before;
};

const readPeak = (pid: number): number => {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kibibytes) / kibibytesInMebibyte;
};
