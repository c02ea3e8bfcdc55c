import type { Condition } from '../language/filter.ts';

export type ParameterPolicy = {
  /** Shown in docs and in GET /api/commands. */
  description: string;
  required?: true;
  /** Accepts a comma-separated list of up to this many values. */
  maxValues?: number;
  /** Used if the command line omits it. */
  default?: number;
} & ValuePolicy;

/** The type and bounds of one value. */
export type ValuePolicy =
  /** A text in which `*` and `?` are wildcards. */
  | { type: 'pattern'; maxLength: number }
  | { type: 'integer'; min: number; max: number }
  | { type: 'choice'; values: readonly string[] }
  | { type: 'date' }
  | { type: 'switch' }
  /** A property of the class that ClassName names. */
  | { type: 'property' }
  /** Conditions on properties of the class that ClassName names. */
  | { type: 'filter'; maxLength: number };

export interface CommandPolicy {
  /** Shown in docs and in GET /api/commands. */
  summary: string;
  /** The parameter that takes a value without a name. */
  first: string;
  parameters: Record<string, ParameterPolicy>;
  /** Pairs of parameters that exclude each other. */
  exclusive: readonly (readonly [string, string])[];
}

interface PlainValues {
  pattern: string;
  integer: number;
  date: Date;
  switch: true;
  property: string;
  filter: Condition[];
}

type ValueOf<P> = P extends { type: 'choice'; values: readonly (infer V)[] }
  ? V
  : P extends { type: infer T extends keyof PlainValues }
    ? PlainValues[T]
    : never;

type ParameterValue<P> = P extends { maxValues: number } ? ValueOf<P>[] : ValueOf<P>;

type RequiredOf<T> = {
  [K in keyof T]: T[K] extends { required: true } | { default: number } ? K : never;
}[keyof T];

/** The values of a command's parameters, typed by its policy. */
export type ParametersOf<T> = { [K in RequiredOf<T>]: ParameterValue<T[K]> } & {
  [K in Exclude<keyof T, RequiredOf<T>>]?: ParameterValue<T[K]>;
};
