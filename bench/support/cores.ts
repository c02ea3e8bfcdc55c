import { readFileSync } from 'node:fs';
import { findProgram } from './programs.ts';

/** Processors that programs are bound to. */
export interface Cores {
  server: number;
  load: number;
}

/** The numbers of a list as Linux writes it: `0-2,5`. */
export const parseCpuList = (text: string): number[] =>
  text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.trim().split('-').map(Number);
    return part.trim() === '' ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

/** Two processors, of different cores where there are; undefined where there is one. `siblings` share the first's core. */
export const chooseCores = (allowed: readonly number[], siblings: readonly number[]): Cores | undefined => {
  const [server, ...others] = allowed;
  const load = others.find((cpu) => !siblings.includes(cpu)) ?? others[0];
  return server === undefined || load === undefined ? undefined : { server, load };
};

/** What this process may choose from; undefined where there is one processor, or no program that binds to it. */
export const readCores = (): Cores | undefined => {
  if (findProgram('taskset') === undefined) return undefined;
  const [, list = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const allowed = parseCpuList(list);
  return chooseCores(allowed, readSiblings(allowed[0] ?? 0));
};

const readSiblings = (cpu: number): number[] =>
  parseCpuList(readFileSync(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, 'utf8'));

/** A command line that runs on one processor; on any where there is no choice. */
export const bindTo = (cpu: number | undefined, command: string[]): string[] =>
  cpu === undefined ? command : ['taskset', '--cpu-list', String(cpu), ...command];
