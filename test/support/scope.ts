/** Period that ends with cleanup steps, usually a test. */
export interface Scope {
  after(step: () => unknown): void;
}

type Step = () => unknown;

/** Creates a scope for part of a test. `end` runs the steps in reverse order. */
export const createScope = (): Scope & { end(): Promise<void> } => {
  const steps: Step[] = [];
  return {
    after: (step) => {
      steps.unshift(step);
    },
    end: async () => {
      for (const step of steps.splice(0)) await step();
    },
  };
};

const stepsOf = new WeakMap<Scope, Step[]>();

/**
 * Registers a cleanup step. Steps run in reverse order, because later resources may use earlier ones. A failed step
 * fails the scope but does not stop the other steps.
 */
export const atEnd = (t: Scope, step: Step): void => {
  const known = stepsOf.get(t);
  if (known) return void known.push(step);
  const steps = [step];
  stepsOf.set(t, steps);
  t.after(async () => {
    const errors: unknown[] = [];
    for (const next of steps.splice(0).reverse()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
      }
    }
    stepsOf.delete(t);
    if (errors.length > 0) throw errors[0];
  });
};
