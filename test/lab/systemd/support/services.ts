import { waitUntil } from '../../../support/wait.ts';
import type { Machine } from './machine.ts';

/** Final state of each service among the units, in systemd's words. */
const states: Record<string, string> = {
  'demo-done': 'inactive',
  'demo-esc\\x2daped': 'active',
  'demo-failed': 'failed',
  'demo-killed': 'failed',
  'demo-many@one': 'active',
  'demo-starting': 'activating',
  'demo-stopping': 'deactivating',
  'demo-transient': 'active',
};

/** Brings each service into its state. */
export const startServices = async ({ run }: Machine): Promise<void> => {
  const isIn = (name: string, state: string): boolean => run('systemctl', 'is-active', name).trim() === state;
  run('systemctl', 'start', 'demo-stopping');
  run('systemctl', 'stop', '--no-block', 'demo-stopping');
  run('systemd-run', '--unit=demo-transient', 'sleep', 'infinity');
  const others = Object.keys(states).filter((name) => !/stopping|transient/.test(name));
  run('systemctl', 'start', '--no-block', ...others);
  for (const [name, state] of Object.entries(states)) {
    await waitUntil(`${name} is ${state}`, () => isIn(name, state));
  }
};

/** Lists every service that systemd names, except templates, second names and missing units. */
export const listServices = ({ run }: Machine): string[] => {
  const options = ['--type=service', '--no-legend', '--no-pager', '--full', '--plain'];
  const loaded = toCells(run('systemctl', 'list-units', '--all', ...options))
    .filter(([, load]) => load !== 'not-found')
    .map(([name = '']) => name);
  const installed = toCells(run('systemctl', 'list-unit-files', ...options))
    .filter(([name = '', state]) => state !== 'alias' && !name.endsWith('@.service'))
    .map(([name = '']) => name);
  return [...new Set([...loaded, ...installed])].map((name) => name.replace(/\.service$/, '')).sort();
};

const toCells = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/));
