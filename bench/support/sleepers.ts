import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atExit } from '../../test/faults/support/exit.ts';
import type { Scope } from './scope.ts';

/** They end by themselves even if this process dies. */
const lifetimeSeconds = 600;

/** Starts processes that do nothing until the scope ends. */
export const startSleepers = async (scope: Scope, count: number): Promise<void> => {
  const children: ChildProcess[] = [];
  const killAll = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  const forget = atExit(killAll);
  scope.atEnd(async () => {
    const ended = children.filter(isRunning).map((child) => once(child, 'exit'));
    killAll();
    forget();
    await Promise.all(ended);
  });
  for (let number = 0; number < count; number += 1) {
    const child = spawn('sleep', [String(lifetimeSeconds)], { stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
  }
};

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;
