import { readdirSync, readFileSync } from 'node:fs';

const listChildren = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readParent(name) === pid)
    .map(Number);

/** Returns the parent process. Undefined if the process has ended. */
const readParent = (pid: string): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
};

/**
 * Sends a signal to a process and its children. The process is stopped first, so that it cannot start another child in
 * the meantime.
 */
export const signalTree = (pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void => {
  if (signal !== 'SIGCONT') send(pid, 'SIGSTOP');
  for (const child of listChildren(pid)) send(child, signal);
  send(pid, signal);
};

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
};
