import { HttpError } from '../../http/errors.ts';
import { severities } from '../../kit/severity.ts';
import { deriveLabels, type Silenceable, type SilenceMatcher } from '../../kit/silence-source.ts';
import { createLikeTest, isLike } from '../../lib/wildcards.ts';
import { assertSize } from './expression-size.ts';
import { maxComparedLength, parseExpression, toPatternCost } from './expressions.ts';
import type { SilenceMatch } from './schema.ts';

/** Patterns of a silence: fields, or Alertmanager matchers. */
export type Matching = { match: SilenceMatch } | { matchers: readonly SilenceMatcher[] };

/** Maximum number of characters at the start of a pattern that the index uses. */
const maxPrefixLength = 3;

/** Alert or incident prepared for comparison with many silences. */
export class Subject {
  /** Source, host name, level and text, all in lower case. */
  readonly texts: Readonly<Record<string, string>>;
  /** Labels as in Alertmanager, derived from the fields. Labels of the alert itself take precedence. */
  readonly labels = new Map<string, string>();
  readonly lowerLabels = new Map<string, string>();

  // Avoids intermediate objects for speed, because a list of incidents creates thousands of subjects.
  constructor({ source, hostname, level, text, labels }: Silenceable) {
    const message = cut(text);
    const derived = deriveLabels({ source, hostname, level });
    for (const name in derived) this.labels.set(name, cut(derived[name as keyof typeof derived] ?? ''));
    this.labels.set('source', cut(source));
    this.labels.set('hostname', cut(hostname));
    this.labels.set('level', level);
    this.labels.set('text', message);
    for (const [name, value] of Object.entries(labels ?? {})) {
      // The value may not be a string, if somebody edited the log by hand.
      const own = cut(String(value));
      this.labels.set(name, own);
      this.lowerLabels.set(name, own.toLowerCase());
    }
    this.texts = {
      source: cut(source).toLowerCase(),
      hostname: cut(hostname).toLowerCase(),
      level: level.toLowerCase(),
      text: message.toLowerCase(),
    };
  }

  /** Yields all keys under which the index may have a matching silence. */
  *keys(): Generator<string> {
    for (const [name, value] of Object.entries(this.texts)) yield* listKeys(name, value);
    for (const [name, value] of this.lowerLabels) yield* listKeys(`label ${name}`, value);
    for (const [name, value] of this.labels) yield toExactKey(`matcher ${name}`, value);
  }
}

const cut = (text: string): string => text.slice(0, maxComparedLength);

/** Compiled patterns of a silence. */
export interface CompiledMatch {
  /** Key that all matching subjects share. Undefined if there is none: every alert is then compared. */
  key: MatchKey | undefined;
  /** Worst-case microseconds per comparison. */
  cost: number;
  /** @throws HttpError if a regular expression is unusable */
  test(subject: Subject): boolean;
}

/** Key in the index, with its label. An alert has one key per label. */
interface MatchKey {
  label: string;
  text: string;
}

/** Comparison of a single text. `cost` is in microseconds. */
interface Comparison {
  cost: number;
  isMatch(subject: Subject): boolean;
}

/** Compiles all expressions. Throws an HttpError if the patterns match nothing, match everything, or are unusable. */
export const assertMatching = (matching: Matching): void => {
  compileMatching(matching);
  if ('match' in matching) return;
  const matchEmpty = compileValues(matching.matchers).map(({ test, isEqual }) => test('') && isEqual);
  // As in Alertmanager, a silence that matches every alert counts as a mistake. A silence with only negative matchers
  // is allowed.
  if (!matchEmpty.includes(false))
    throw new HttpError('invalid', 'at least one matcher must not match the empty string');
};

/** Compiles expressions on first use. Throws an HttpError if the patterns match nothing or cost too much. */
export const compileMatching = (matching: Matching): CompiledMatch =>
  'match' in matching ? compileMatch(matching.match) : compileMatchers(matching.matchers);

/** Combines the comparisons, the cheapest first. */
const compileAll = (key: MatchKey | undefined, comparisons: readonly Comparison[]): CompiledMatch => {
  const sorted = comparisons.toSorted((one, other) => one.cost - other.cost);
  return {
    key,
    cost: sorted.reduce((sum, { cost }) => sum + cost, 0),
    test: (subject) => sorted.every(({ isMatch }) => isMatch(subject)),
  };
};

const compileMatch = ({ labels = {}, ...texts }: SilenceMatch): CompiledMatch => {
  const toMember =
    (isLabel: boolean) =>
    ([name, given]: [string, string]) => ({ name, isLabel, pattern: given.toLowerCase() });
  const members = [...Object.entries(texts).map(toMember(false)), ...Object.entries(labels).map(toMember(true))];
  if (members.length === 0) {
    throw new HttpError('invalid', 'match needs at least one of source, hostname, level, text and labels');
  }
  const level = texts.level?.toLowerCase();
  if (level !== undefined && !severities.some((severity) => isLike(severity.toLowerCase(), level))) {
    throw new HttpError('invalid', `match.level must match one of ${severities.join(', ')}`);
  }
  const comparisons = members.map(({ name, isLabel, pattern }) => {
    const isMatch = createLikeTest(pattern);
    return {
      cost: toPatternCost(pattern.length, pattern.includes('*')),
      isMatch: (subject: Subject): boolean => {
        const text = isLabel ? subject.lowerLabels.get(name) : subject.texts[name];
        return text !== undefined && isMatch(text);
      },
    };
  });
  // There are only four levels, so a level key would select too many silences.
  const selective = members.filter(({ name, isLabel }) => isLabel || name !== 'level');
  const keys = selective.flatMap(
    ({ name, isLabel, pattern }) => toKey(isLabel ? `label ${name}` : name, pattern) ?? [],
  );
  return compileAll(findLongest(keys), comparisons);
};

/** Returns the longest key, because it is likely to be the rarest. */
const findLongest = (keys: readonly MatchKey[]): MatchKey | undefined =>
  keys.toSorted((one, other) => other.text.length - one.text.length)[0];

const compileMatchers = (matchers: readonly SilenceMatcher[]): CompiledMatch => {
  const values = compileValues(matchers);
  const exact = matchers.filter(
    ({ name, isRegex, isEqual, value }) => isEqual && !isRegex && value !== '' && !/^(?:severity|level)$/.test(name),
  );
  const keys = exact.map(({ name, value }) => {
    const label = `matcher ${name}`;
    return { label, text: toExactKey(label, cut(value)) };
  });
  const comparisons = values.map(({ name, isEqual, test, cost }) => ({
    cost,
    isMatch: ({ labels }: Subject): boolean => test(labels.get(name) ?? '') === isEqual,
  }));
  return compileAll(findLongest(keys), comparisons);
};

/** Returns each matcher with a test for its value. Throws an HttpError if all expressions together are too large. */
const compileValues = (matchers: readonly SilenceMatcher[]) => {
  let size = 0;
  return matchers.map((matcher) => {
    const { value, isRegex } = matcher;
    const exact = cut(value);
    const plain = { size: 0, cost: toPatternCost(0, false), test: (text: string): boolean => text === exact };
    const compared = isRegex ? parseExpression(value) : plain;
    size += compared.size;
    assertSize(value, size);
    return { ...matcher, ...compared };
  });
};

/** Creates a test for labels. A missing label counts as empty. Throws an HttpError if an expression is unusable. */
export const createLabelTest = (matchers: readonly SilenceMatcher[]) => {
  const values = compileValues(matchers);
  for (const { test } of values) test('');
  return (labels: ReadonlyMap<string, string>): boolean =>
    values.every(({ name, isEqual, test }) => test(labels.get(name) ?? '') === isEqual);
};

/** Creates the filter of a request. Caches the result for each label value, because values recur. */
export const createLabelFilter = (matchers: readonly SilenceMatcher[]) => {
  const values = compileValues(matchers);
  // Compiles all expressions first, so that errors are reported before any comparison.
  for (const { test } of values) test('');
  const remembered = values.map(() => new Map<string, boolean>());
  let spent = 0;
  const passes = (index: number, text: string): boolean => {
    const one = values[index];
    if (!one) return true;
    const { size, test } = one;
    if (size === 0) return test(text);
    const verdicts = remembered[index];
    const known = verdicts?.get(text);
    if (known !== undefined) return known;
    spent += size * (text.length + 1);
    if (spent > maxSteps) {
      throw new HttpError(
        'invalid',
        'The filters would take too long for so many alerts: use = or shorter expressions',
      );
    }
    const verdict = test(text);
    if (verdicts && verdicts.size >= maxRemembered) verdicts.clear();
    verdicts?.set(text, verdict);
    return verdict;
  };
  // As in Alertmanager, a missing label counts as empty, unless the matcher has no value.
  return (labels: ReadonlyMap<string, string>): boolean =>
    values.every(({ name, value, isEqual }, index) => {
      const label = labels.get(name);
      if (value === '' && (label === undefined) === isEqual) return true;
      return passes(index, cut(label ?? '')) === isEqual;
    });
};

/** Maximum number of expression steps (size × characters) per request. They take a few seconds. */
const maxSteps = 100_000_000;

/** Maximum number of strings per request for which the result of an expression is cached. */
const maxRemembered = 1000;

const toExactKey = (name: string, value: string): string => `${name}=${value}`;
const toPrefixKey = (name: string, start: string): string => `${name}^${start}`;

/** Returns the key that all strings matching the pattern share. Undefined if the pattern begins with a wildcard. */
const toKey = (name: string, pattern: string): MatchKey | undefined => {
  const [start = ''] = pattern.split('*', 1);
  if (start === pattern) return { label: name, text: toExactKey(name, pattern) };
  const prefix = start.slice(0, maxPrefixLength);
  return start === '' ? undefined : { label: `${prefix.length} ${name}`, text: toPrefixKey(name, prefix) };
};

function* listKeys(name: string, value: string): Generator<string> {
  yield toExactKey(name, value);
  for (let length = 1; length <= maxPrefixLength && length <= value.length; length += 1) {
    yield toPrefixKey(name, value.slice(0, length));
  }
}

/** Drops additional members stored by versions before 1.2. */
export const pickMatcher = ({ name, value, isRegex, isEqual }: SilenceMatcher): SilenceMatcher => ({
  name,
  value,
  isRegex,
  isEqual,
});

/** Converts the patterns to Alertmanager matchers. */
export const toMatchers = (matching: Matching): readonly SilenceMatcher[] => {
  if ('matchers' in matching) return matching.matchers.map(pickMatcher);
  const { labels = {}, ...texts } = matching.match;
  return [...Object.entries(texts), ...Object.entries(labels)].map(([name, pattern]) => ({
    name,
    value: `(?is)${/^\*+$/.test(pattern) ? '.+' : pattern.split('*').map(escapeExpression).join('.*')}`,
    isRegex: true,
    isEqual: true,
  }));
};

const escapeExpression = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
