import { readFileSync } from 'node:fs';
import { findProgram } from './programs.ts';

/** Processors that programs are pinned to. */
export interface Cores {
  server: number;
  load: number;
}

/** Parses a CPU list as Linux prints it, such as `0-2,5`. */
export const parseCpuList = (text: string): number[] =>
  text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.trim().split('-').map(Number);
    return part.trim() === '' ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

/**
 * The first and the last processor this process may use, which rarely share a core; undefined if there is only one, or
 * no program to pin with.
 */
export const readCores = (): Cores | undefined => {
  const [, list = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const [server, load] = [parseCpuList(list).at(0), parseCpuList(list).at(-1)];
  if (server === undefined || load === undefined || server === load) return undefined;
  return findProgram('taskset') ? { server, load } : undefined;
};

/** A command line pinned to one processor, or unchanged if there is no choice. */
export const bindTo = (cpu: number | undefined, command: string[]): string[] =>
  cpu === undefined ? command : ['taskset', '--cpu-list', String(cpu), ...command];
