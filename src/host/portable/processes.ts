import { basename, join } from 'node:path';
import type { Systeminformation } from 'systeminformation';
import type { ProcessDetails, ProcessReading } from '../readings.ts';

/** On some systems, values that systeminformation's types promise are missing. */
interface Listed
  extends Pick<Systeminformation.ProcessesProcessData, 'pid' | 'parentPid' | 'name' | 'memRss' | 'priority'> {
  memVsz: number | null;
  started: string | null;
  path?: string | null;
}

/** Sizes come in KiB; processor time, threads and sessions are not reported. */
export const toProcessReading = (listed: Listed): ProcessReading => ({
  pid: listed.pid,
  parentPid: listed.parentPid,
  name: listed.name,
  userSeconds: null,
  kernelSeconds: null,
  workingSetBytes: listed.memRss * 1024,
  virtualBytes: listed.memVsz === null ? null : listed.memVsz * 1024,
  threads: null,
  sessionId: null,
  priority: listed.priority,
  startedAt: parseLocalTime(listed.started),
});

/** `path` is the folder of the program on some systems and the program itself on Windows. */
export const toProcessDetails = ({ name, path }: Pick<Listed, 'name' | 'path'>): ProcessDetails => {
  const isWhole = path && basename(path).toLowerCase() === name.toLowerCase();
  return {
    executablePath: path ? (isWhole ? path : join(path, name)) : null,
    handles: null,
    privateBytes: null,
    pagedBytes: null,
  };
};

/** Parses `yyyy-MM-dd HH:mm:ss` in the machine's time zone; null for anything else. */
export const parseLocalTime = (text: string | null): Date | null => {
  const date = new Date((text ?? '').replace(' ', 'T'));
  return Number.isNaN(date.getTime()) ? null : date;
};
