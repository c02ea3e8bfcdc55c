import { compileFormat } from './compile.ts';
import { type IntakeSettings, isTaken } from './definition.ts';

/** Returns problems with the configured formats, as clauses. */
export const findIntakeProblems = ({ intake }: IntakeSettings): string[] => {
  const names = intake.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...twice.map((name) => `intake.${name} is defined twice: give each format its own name`),
    ...intake.flatMap(({ name, ...definition }) => {
      if (isTaken(name)) return [`intake.${name} is a built-in format: choose another name`];
      try {
        compileFormat(name, definition);
        return [];
      } catch (error) {
        return [`intake.${name}.${(error as Error).message}`];
      }
    }),
  ];
};
