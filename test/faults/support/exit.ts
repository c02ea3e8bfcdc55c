type Step = () => unknown;

const steps = new Set<Step>();

process.on('exit', () => {
  for (const step of [...steps].reverse()) runStep(step);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/**
 * Runs a step if this process ends before its tests do, also by a signal: what began last is ended first, and only
 * what a step does at once is done. The answer takes the step back.
 */
export const atExit = (step: Step): (() => void) => {
  steps.add(step);
  return () => void steps.delete(step);
};

const runStep = (step: Step): void => {
  try {
    step();
  } catch {
    // the other steps must still run, and there is nowhere left to report this
  }
};
