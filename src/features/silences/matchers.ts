import { HttpError } from '../../http/errors.ts';
import { severities } from '../../kit/severity.ts';
import { deriveLabels, type Silenceable, type SilenceMatcher } from '../../kit/silence-source.ts';
import { createLikeTest, isLike } from '../../lib/wildcards.ts';
import { assertSize } from './expression-size.ts';
import { longestCompared, parseExpression, toPatternCost } from './expressions.ts';
import type { SilenceMatch } from './schema.ts';

/** Either of both. */
export type Matching = { match: SilenceMatch } | { matchers: readonly SilenceMatcher[] };

/** So many characters at the start of a pattern are looked up. */
const prefixLength = 3;

/** What a silence may match, prepared for many silences. */
export class Subject {
  /** The four texts, in lower case. */
  readonly texts: Readonly<Record<string, string>>;
  /** As Alertmanager would have them: those of the alert, or else made of what it says. */
  readonly labels = new Map<string, string>();
  readonly lowerLabels = new Map<string, string>();

  // Member by member: a list of incidents makes thousands.
  constructor({ source, hostname, level, text, labels }: Silenceable) {
    const message = cut(text);
    const made = deriveLabels({ source, hostname, level });
    for (const name in made) this.labels.set(name, cut(made[name as keyof typeof made] ?? ''));
    this.labels.set('source', cut(source));
    this.labels.set('hostname', cut(hostname));
    this.labels.set('level', level);
    this.labels.set('text', message);
    for (const [name, value] of Object.entries(labels ?? {})) {
      // People may write lines of the log by hand.
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

  /** What an index may have of silences that match it. */
  *keys(): Generator<string> {
    for (const [name, value] of Object.entries(this.texts)) yield* listKeys(name, value);
    for (const [name, value] of this.lowerLabels) yield* listKeys(`label ${name}`, value);
    for (const [name, value] of this.labels) yield toExactKey(`matcher ${name}`, value);
  }
}

const cut = (text: string): string => text.slice(0, longestCompared);

/** What a silence matches, ready to be compared. */
export interface CompiledMatch {
  /** What everything that it matches has; undefined if there is nothing, so that every alert is compared with it. */
  key: MatchKey | undefined;
  /** Microseconds that a comparison takes at worst. */
  cost: number;
  /** Throws an HttpError for a regular expression that cannot be used. */
  test(subject: Subject): boolean;
}

/** A key, and the label that it is of: an alert has one key of each. */
interface MatchKey {
  label: string;
  text: string;
}

/** A comparison of one text, and its cost in microseconds. */
interface Comparison {
  cost: number;
  isMatch(subject: Subject): boolean;
}

/** Compiles all expressions. @throws HttpError for what matches nothing, everything by mistake, or cannot be used */
export const assertMatching = (matching: Matching): void => {
  compileMatching(matching);
  if ('match' in matching) return;
  const matchEmpty = compileValues(matching.matchers).map(({ test, isEqual }) => test('') && isEqual);
  // As Alertmanager has it: a silence of everything is a mistake, one of everything but something is none.
  if (!matchEmpty.includes(false))
    throw new HttpError('invalid', 'at least one matcher must not match the empty string');
};

/** Compiles no expression before it is needed. @throws HttpError for what matches nothing, or costs too much */
export const compileMatching = (matching: Matching): CompiledMatch =>
  'match' in matching ? compileMatch(matching.match) : compileMatchers(matching.matchers);

/** All comparisons, the cheapest first. */
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
  // Levels are few: they tell little apart.
  const telling = members.filter(({ name, isLabel }) => isLabel || name !== 'level');
  const keys = telling.flatMap(({ name, isLabel, pattern }) => toKey(isLabel ? `label ${name}` : name, pattern) ?? []);
  return compileAll(findLongest(keys), comparisons);
};

/** Of several keys the longest is the rarest. */
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

/** The same matchers with what compares their values. Throws an HttpError where all expressions together are too large. */
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

/** Matchers of one request: label values repeat, so their verdicts are kept while the request is answered. */
export const createLabelFilter = (matchers: readonly SilenceMatcher[]) => {
  const values = compileValues(matchers);
  // Says what is wrong with an expression before anything is compared.
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
    if (spent > mostSteps) {
      throw new HttpError(
        'invalid',
        'The filters would take too long for so many alerts: use = or shorter expressions',
      );
    }
    const verdict = test(text);
    if (verdicts && verdicts.size >= rememberedTexts) verdicts.clear();
    verdicts?.set(text, verdict);
    return verdict;
  };
  /** As Alertmanager has it: a label that is missing is empty, but for a matcher without a value. */
  return (labels: ReadonlyMap<string, string>): boolean =>
    values.every(({ name, value, isEqual }, index) => {
      const label = labels.get(name);
      if (value === '' && (label === undefined) === isEqual) return true;
      return passes(index, cut(label ?? '')) === isEqual;
    });
};

/** Steps of expressions, each of a unit of size and a character, that one request may take: some seconds. */
const mostSteps = 100_000_000;

/** Texts of which a request remembers the verdict, for each expression. */
const rememberedTexts = 1000;

const toExactKey = (name: string, value: string): string => `${name}=${value}`;
const toPrefixKey = (name: string, start: string): string => `${name}^${start}`;

/** The key of all texts that are like the pattern; undefined where it begins with a wildcard. */
const toKey = (name: string, pattern: string): MatchKey | undefined => {
  const [start = ''] = pattern.split('*', 1);
  if (start === pattern) return { label: name, text: toExactKey(name, pattern) };
  const prefix = start.slice(0, prefixLength);
  return start === '' ? undefined : { label: `${prefix.length} ${name}`, text: toPrefixKey(name, prefix) };
};

function* listKeys(name: string, value: string): Generator<string> {
  yield toExactKey(name, value);
  for (let length = 1; length <= prefixLength && length <= value.length; length += 1) {
    yield toPrefixKey(name, value.slice(0, length));
  }
}

/** Versions before 1.2 stored other members, too. */
export const pickMatcher = ({ name, value, isRegex, isEqual }: SilenceMatcher): SilenceMatcher => ({
  name,
  value,
  isRegex,
  isEqual,
});

/** The same as matchers of Alertmanager, for programs that know no others. */
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
