import type { Condition } from '../language/filter.ts';

export type ParameterPolicy = {
  /** What it chooses, for people. */
  description: string;
  /** The command is refused without it. */
  required?: true;
  /** Takes several values, separated by commas, up to this number. */
  maxValues?: number;
  /** Taken where the command line does not have it. */
  default?: number;
} & ValuePolicy;

/** What one value may be. */
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
  /** What the command answers, for people. */
  summary: string;
  /** The parameter that a value without a name is for. */
  first: string;
  parameters: Record<string, ParameterPolicy>;
  /** Pairs of parameters that cannot stand together. */
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

/** The values of a command's parameters, as its policy types them. */
export type ParametersOf<T> = { [K in RequiredOf<T>]: ParameterValue<T[K]> } & {
  [K in Exclude<keyof T, RequiredOf<T>>]?: ParameterValue<T[K]>;
};
