import type { Concern } from '../../kit/feature.ts';
import { rankOf } from '../../kit/severity.ts';
import type { WatchRunner } from './runner.ts';
import type { WatchSettings } from './schema.ts';

/** Types of watches that check parts of the machine. */
const machineTypes: readonly WatchSettings['type'][] = [
  'disk',
  'memory',
  'swap',
  'cpu',
  'load',
  'network',
  'pressure',
  'temperature',
];

/** Lists parts of the machine, such as disks, that have firing alerts, worst first. */
export const listMachineConcerns = (runners: readonly WatchRunner[]): Concern[] =>
  runners
    .filter(({ watch }) => machineTypes.includes(watch.settings.type))
    .flatMap((runner) => runner.list())
    .flatMap(({ state, level, text }): Concern[] =>
      state === 'firing' && level ? [{ area: 'host', severity: level, text: toSentence(text) }] : [],
    )
    .sort((a, b) => rankOf(a.severity) - rankOf(b.severity));

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
