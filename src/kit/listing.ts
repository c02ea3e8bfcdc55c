import type { Feature, Profile } from './feature.ts';

/** Profiles at the beginning and end of each list. All other profiles are in between. */
const first = [
  'alerts',
  'incidents',
  'snapshots',
  'silences',
  'notifications',
  'oncall',
  'alertmanager',
  'watches',
  'heartbeats',
  'availability',
  'status-pages',
  'monitoring',
  'status',
  'history',
  'tasks',
  'commands',
];
const last = ['items', 'simple-tasks', 'protected-tasks'];

/** Returns the features' profiles in list order. */
export const listProfiles = (features: readonly Feature[]): Profile[] => {
  const toPlace = ({ name }: Profile): number =>
    first.includes(name) ? first.indexOf(name) - first.length : last.indexOf(name) + 1;
  return features.flatMap((feature) => feature.profiles).toSorted((a, b) => toPlace(a) - toPlace(b));
};
