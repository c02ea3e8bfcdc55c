import { text } from '../strings/index.ts';
import { Chip } from './chip.tsx';
import type { IconName } from './icon.tsx';

/** The levels with a look of their own, the worst first. */
export const knownLevels = ['CRITICAL', 'ERROR', 'WARNING', 'INFO'] as const;
export type KnownLevel = (typeof knownLevels)[number] | 'other';

/** Characters of a level in a chip. */
export const mostInChip = 24;

/** What senders write for the same level. */
const aliases: Record<string, KnownLevel> = {
  FATAL: 'CRITICAL',
  EMERGENCY: 'CRITICAL',
  ERR: 'ERROR',
  WARN: 'WARNING',
  INFORMATION: 'INFO',
  NOTICE: 'INFO',
  DEBUG: 'INFO',
};

/** The known level that a level of any spelling looks like. */
export const toKnownLevel = (level: string): KnownLevel => {
  const upper = level.trim().toUpperCase();
  return knownLevels.find((known) => known === upper) ?? aliases[upper] ?? 'other';
};

/** The name of the level's colour and icon. */
export const toTone = (level: string): { tone: string; icon: IconName } => {
  const known = toKnownLevel(level);
  if (known === 'other') return { tone: 'quiet', icon: 'other' };
  const name = known.toLowerCase() as 'critical' | 'error' | 'warning' | 'info';
  return { tone: name, icon: name };
};

/** The level in words: known ones in the user's language, others as they were sent. */
export const toLevelName = (level: string): string => {
  const known = toKnownLevel(level);
  return known === 'other' ? level || text.alerts.noLevel : text.alerts.levels[known];
};

/** The level as a chip; one that is too long for that is cut. */
export const LevelChip = ({ level }: { level: string }) => (
  <Chip {...toTone(level)}>
    <bdi>{toLevelName(level).slice(0, mostInChip)}</bdi>
  </Chip>
);
