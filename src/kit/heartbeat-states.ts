/** States of a heartbeat. */
export const heartbeatStates = ['new', 'up', 'running', 'late', 'down', 'paused'] as const;

/** States that need attention, worst first. */
export const problemStates: readonly string[] = ['down', 'late'] satisfies (typeof heartbeatStates)[number][];
