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
 * Two processors, on different cores if possible; undefined if there is only one. `siblings` share the first one's
 * core.
 */
export const chooseCores = (allowed: readonly number[], siblings: readonly number[]): Cores | undefined => {
  const [server, ...others] = allowed;
  const load = others.find((cpu) => !siblings.includes(cpu)) ?? others[0];
  return server === undefined || load === undefined ? undefined : { server, load };
};

/** The processors this process may use; undefined if there is only one, or no program to pin with. */
export const readCores = (): Cores | undefined => {
  if (findProgram('taskset') === undefined) return undefined;
  const [, list = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const allowed = parseCpuList(list);
  return chooseCores(allowed, readSiblings(allowed[0] ?? 0));
};

const readSiblings = (cpu: number): number[] =>
  parseCpuList(readFileSync(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, 'utf8'));

/** A command line pinned to one processor, or unchanged if there is no choice. */
export const bindTo = (cpu: number | undefined, command: string[]): string[] =>
  cpu === undefined ? command : ['taskset', '--cpu-list', String(cpu), ...command];
