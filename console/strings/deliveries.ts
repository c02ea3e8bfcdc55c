import { counted } from './count.ts';

export const deliveries = {
  states: { idle: 'Idle', delivering: 'Delivering', waiting: 'Waiting to retry', disabled: 'Disabled' },
  none: 'No destinations',
  noneHint: 'Add destinations to the config file to deliver alerts onward.',
  lag: 'Waiting',
  oldest: 'Oldest waits',
  lastSuccess: 'Last success',
  lastError: 'Last failure',
  nextAttempt: 'Next attempt',
  never: 'not since the server was started',
  parked: 'Parked',
  dropped: 'Dropped',
  retry: 'Retry',
  retryOf: (id: string) => `Retry alert ${id}`,
  delivered: 'Delivered.',
  stillParked: (reason: string) => `Still parked: ${reason}`,
  parkedAlerts: (count: string) => counted(count, 'parked alert'),
  shownOf: (shown: string) => `The last ${shown} are listed.`,
};
