/** States of a heartbeat. */
export const heartbeatStates = ['new', 'up', 'running', 'late', 'down', 'paused'] as const;
