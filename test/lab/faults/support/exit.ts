type Step = () => unknown;

const steps = new Set<Step>();

process.on('exit', () => {
  for (const step of [...steps].reverse()) runStep(step);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/**
 * Runs a step if this process ends before its tests do, even by a signal. Steps run in reverse order, and only their
 * synchronous part runs. Returns a function that removes the step.
 */
export const atExit = (step: Step): (() => void) => {
  steps.add(step);
  return () => void steps.delete(step);
};

const runStep = (step: Step): void => {
  try {
    step();
  } catch {
    // The other steps must still run, and this failure cannot be reported anywhere.
  }
};
