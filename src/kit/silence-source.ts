import Type, { type Static } from 'typebox';
import { defineShape } from './route.ts';
import type { Severity } from './severity.ts';

/** What a silence may match. */
export interface Silenceable {
  source: string;
  hostname: string;
  level: Severity;
  text: string;
  labels: Record<string, string> | null;
}

/** What the silences feature offers to features that notify people. */
export interface SilenceSource {
  /** The ids of the silences that hold for the subject at that time, in Unix milliseconds. */
  silencesOf(subject: Silenceable, at: number): string[];
  /** When time alone may change an answer; undefined if it never does. */
  nextChangeAfter(at: number): number | undefined;
  onChanged(listener: () => void): void;
}

/** Maximum characters of a pattern, and of an expression. */
export const maxPatternLength = 256;
const maxExpressionLength = 1024;

/** A matcher of Alertmanager: `name="value"`, with `isRegex` `=~`, without `isEqual` `!=` or `!~`. */
export const SilenceMatcher = defineShape('SilenceMatcher', {
  name: Type.String({ minLength: 1, maxLength: maxPatternLength, examples: ['alertname'] }),
  value: Type.String({ maxLength: maxExpressionLength, examples: ['Disk.*'] }),
  isRegex: Type.Boolean({ description: '`value` is an expression of RE2 for the whole label.', examples: [true] }),
  isEqual: Type.Boolean({ description: '`false` negates.', examples: [true] }),
});

export type SilenceMatcher = Static<typeof SilenceMatcher>;

/** A silence as Alertmanager has it; times are Unix milliseconds. Of a recurring one they are those of its window. */
export interface SharedSilence {
  id: string;
  state: 'active' | 'pending' | 'expired';
  matchers: readonly SilenceMatcher[];
  startsAt: number;
  endsAt: number;
  comment: string;
  /** Who a program says has made it, or else who has. */
  createdBy: string;
  updatedAt: number;
}

/** What a program of Alertmanager wants a silence to be. */
export type GivenSilence = Pick<SharedSilence, 'matchers' | 'startsAt' | 'endsAt' | 'comment' | 'createdBy'>;

/** What the silences feature offers to the API of Alertmanager, beside the answers. */
export interface SilenceStore extends SilenceSource {
  list(): Iterable<SharedSilence>;
  find(id: string): SharedSilence | undefined;
  /** Resolves to the id of the new silence. Rejects with an HttpError. */
  create(silence: GivenSilence, by: string): Promise<string>;
  /**
   * Changes one; where more changes than its end and comment, it ends and another one begins. Resolves to the id, or to
   * undefined if there is no such silence. Rejects with an HttpError.
   */
  replace(id: string, silence: GivenSilence, by: string): Promise<string | undefined>;
  /** Ends one now; resolves to whether there is one. */
  end(id: string, by: string): Promise<boolean>;
  /** What matchers are compared with: labels of alerts, and what is made of the other fields. */
  labelsOf(subject: Silenceable): ReadonlyMap<string, string>;
  /** Whether labels pass all matchers. Throws an HttpError for a regular expression that cannot be used. */
  createFilter(matchers: readonly SilenceMatcher[]): (labels: ReadonlyMap<string, string>) => boolean;
}

/** The labels that an alert has in the API of Alertmanager where its sender gives it none of these. */
export const deriveLabels = ({ source, hostname, level }: Pick<Silenceable, 'source' | 'hostname' | 'level'>) => ({
  alertname: source || 'signalbox',
  severity: level.toLowerCase(),
  ...(hostname !== '' && { instance: hostname }),
});
