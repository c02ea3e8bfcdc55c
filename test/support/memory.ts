import { readFileSync } from 'node:fs';

const kibibytesInMebibyte = 1024;

/** The most memory that a process has held so far, in MiB. Linux only; throws once the process has ended. */
export const readPeakMemory = (pid: number): number => {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kibibytes) / kibibytesInMebibyte;
};
