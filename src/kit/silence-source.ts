import Type, { type Static } from 'typebox';
import type { Severity } from './severity.ts';
import { defineShape } from './shape.ts';

/** Properties of an alert or incident that silences can match. */
export interface Silenceable {
  source: string;
  hostname: string;
  level: Severity;
  text: string;
  labels: Record<string, string> | null;
}

/** Active silences, for features that notify people. */
export interface SilenceSource {
  /** Returns the ids of silences that match the subject and are active at a time (Unix milliseconds). */
  silencesOf(subject: Silenceable, at: number): string[];
  /** True if an active silence matches the subject and declares maintenance at that time. */
  isMaintained(subject: Silenceable, at: number): boolean;
  /** Returns the next time at which a silence begins or ends. Undefined if there is none. */
  nextChangeAfter(at: number): number | undefined;
  onChanged(listener: () => void): void;
}

/** Maximum length in characters of a pattern and of an expression. */
export const maxPatternLength = 256;
const maxExpressionLength = 1024;

/** Alertmanager matcher: `name="value"`. `=~` with `isRegex`. `!=` or `!~` without `isEqual`. */
export const SilenceMatcher = defineShape('SilenceMatcher', {
  name: Type.String({ minLength: 1, maxLength: maxPatternLength, examples: ['alertname'] }),
  value: Type.String({ maxLength: maxExpressionLength, examples: ['Disk.*'] }),
  isRegex: Type.Boolean({
    description: 'True if `value` is an RE2 expression for the whole label value.',
    examples: [true],
  }),
  isEqual: Type.Boolean({ description: '`false` negates the matcher.', examples: [true] }),
});

export type SilenceMatcher = Static<typeof SilenceMatcher>;

/** Silence in Alertmanager's form. Times are Unix milliseconds. A recurring silence has the times of its window. */
export interface SharedSilence {
  id: string;
  state: 'active' | 'pending' | 'expired';
  matchers: readonly SilenceMatcher[];
  startsAt: number;
  endsAt: number;
  comment: string;
  /** Author that a program has named, or else the user or key that created the silence. */
  createdBy: string;
  updatedAt: number;
}

/** Silence as created by an Alertmanager client. */
export type GivenSilence = Pick<SharedSilence, 'matchers' | 'startsAt' | 'endsAt' | 'comment' | 'createdBy'>;

/** Current or planned maintenance that a silence declares. Times are Unix milliseconds. */
export interface Maintenance {
  /** Id of the silence. */
  id: string;
  startsAt: number;
  endsAt: number;
  /** Indexes of the subjects that the silence covers. */
  covered: number[];
}

/** Compiled rule of `inhibitRules`, for the labels that `labelsOf` returns. */
export interface InhibitRule {
  isSource(labels: ReadonlyMap<string, string>): boolean;
  isTarget(labels: ReadonlyMap<string, string>): boolean;
  /** Labels that must have the same value. A missing label counts as empty. */
  equal: readonly string[];
}

/** Silences, as offered by the feature `silences`, with the operations of Alertmanager's API. */
export interface SilenceStore extends SilenceSource {
  list(): Iterable<SharedSilence>;
  find(id: string): SharedSilence | undefined;
  /** Creates a silence and resolves to its id. Rejects with an HttpError if the silence is unusable. */
  create(silence: GivenSilence, by: string): Promise<string>;
  /**
   * Changes the end, comment and author of a silence. Any other change ends the silence and creates a new one. Resolves
   * to the id, or to undefined if the silence does not exist. Rejects with an HttpError if the silence is unusable.
   */
  replace(id: string, silence: GivenSilence, by: string): Promise<string | undefined>;
  /** Ends a silence now. Resolves to false if the silence does not exist. */
  end(id: string, by: string): Promise<boolean>;
  /**
   * Lists up to 50 periods of maintenance of the subjects that begin before `until` and end after `from`, earliest
   * first.
   */
  listMaintenance(subjects: readonly Silenceable[], from: number, until: number): Maintenance[];
  /** Returns the rules of the config file. Returns the same array until the file is reloaded. */
  listInhibitRules(): readonly InhibitRule[];
  /** Returns the labels that matchers compare: the alert's own labels, and labels derived from its other fields. */
  labelsOf(subject: Silenceable): ReadonlyMap<string, string>;
  /**
   * Creates a test that returns true if labels satisfy all matchers. Throws an HttpError if an expression is invalid.
   */
  createFilter(matchers: readonly SilenceMatcher[]): (labels: ReadonlyMap<string, string>) => boolean;
}

/** Returns the labels that an alert gets in Alertmanager's API in addition to those from its sender. */
export const deriveLabels = ({ source, hostname, level }: Pick<Silenceable, 'source' | 'hostname' | 'level'>) => ({
  alertname: source || 'signalbox',
  severity: level.toLowerCase(),
  ...(hostname !== '' && { instance: hostname }),
});
