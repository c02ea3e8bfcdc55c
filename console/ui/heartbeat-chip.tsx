import type { Heartbeat } from 'signalbox/client';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { Chip, type Look } from './chip.tsx';

const looks: Record<Heartbeat['state'], Look> = {
  new: { tone: 'quiet', icon: 'clock' },
  up: { tone: 'good', icon: 'check' },
  running: { tone: 'info', icon: 'play' },
  late: { tone: 'warning', icon: 'clock' },
  down: { tone: 'error', icon: 'error' },
  paused: { tone: 'quiet', icon: 'pause' },
};

export const HeartbeatChip = ({ state }: Pick<Heartbeat, 'state'>) => (
  <Chip {...looks[state]}>{words.states[state]}</Chip>
);
