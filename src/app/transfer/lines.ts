import type { Transfer } from '../../profiles/feature.ts';
import { createSchemaCheck, describeSchemaErrors, listSchemaErrors } from '../../schema-validation.ts';

/** Gets a problem as a clause. */
export type OnProblem = (problem: string) => void;

export type Begun = ReturnType<Transfer['begin']>;

/** What was moved, and how much of it: the number of lines by their key. */
export type Counts = Record<string, number>;

/** The changes of a transfer, some at a time. */
export type ReadChanges = (transfer: Transfer) => AsyncGenerator<readonly unknown[]>;

/** An empty store that an import fills. */
export interface Target {
  /** Takes a change, whose line has so many bytes. */
  apply(transfer: Transfer, change: unknown, length: number): Promise<void> | undefined;
  /** Stores everything; nothing is stored before, nor if it throws. */
  store(): Promise<void>;
  close(): Promise<void>;
}

const format = 1;

/** The first line; its number changes with the format. */
export const firstLine = { signalbox: 'export', version: format };

/** The last line: without it, an export was cut short. */
export const lastLine = { signalbox: 'end' };

/** Why a first line cannot be read, as a clause; undefined for one that can. */
export const findHeaderProblem = (value: unknown): string | undefined => {
  const { signalbox, version } = Object(value);
  if (signalbox !== firstLine.signalbox) return `not ${JSON.stringify(firstLine)}, so this is no export of signalbox`;
  if (version === format) return undefined;
  return `version ${JSON.stringify(version)} of an export cannot be read here, only ${format}`;
};

export const isLastLine = (value: unknown): boolean => Object(value).signalbox === lastLine.signalbox;

/** Finds why the value of a line is not valid, as a clause; undefined for a valid one. */
export type FindProblem = (value: unknown) => string | undefined;

/** The checks of the values by the keys of their lines. */
export const createChecks = ({ lines }: Transfer): Map<string, FindProblem> =>
  new Map(
    Object.entries(lines).map(([key, schema]) => {
      const isValid = createSchemaCheck(schema);
      const find = (value: unknown): string | undefined => {
        if (isValid(value)) return undefined;
        const [fault] = describeSchemaErrors(listSchemaErrors(schema, value), { schema });
        return fault ? `${[key, ...fault.path].join('.')} ${fault.clause}` : `${key} is not valid`;
      };
      return [key, find];
    }),
  );
