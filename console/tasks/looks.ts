import type { TaskPriority as Priority, TaskStatus as Status } from 'signalbox/client';
import type { Look } from '../ui/chip.tsx';

/** Colour and icon of each status and priority. */
export const looks: Record<Status | Priority, Look> = {
  Pending: { tone: 'quiet', icon: 'other' },
  InProgress: { tone: 'info', icon: 'repeat' },
  Completed: { tone: 'good', icon: 'check' },
  Cancelled: { tone: 'quiet', icon: 'close' },
  Low: { tone: 'quiet', icon: 'down' },
  Medium: { tone: 'info', icon: 'other' },
  High: { tone: 'warning', icon: 'up' },
  Critical: { tone: 'critical', icon: 'critical' },
};
