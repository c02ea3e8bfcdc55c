import { RE2JS } from 're2js';
import { HttpError } from '../../http/errors.ts';
import { listMadeLabels, type Silenceable, type SilenceMatcher } from '../offers.ts';
import { severities } from '../severity.ts';
import { createLikeTest, isLike } from '../wildcards.ts';

/** What a silence matches, as people write it: each member has to match, and `*` stands for any text. */
interface SilenceMatch {
  source?: string;
  hostname?: string;
  level?: string;
  text?: string;
  labels?: Record<string, string>;
}

/** Either of both. */
export type Matching = { match: SilenceMatch } | { matchers: readonly SilenceMatcher[] };

/** Longer texts are compared up to here; titles of incidents end there, too. */
export const longestCompared = 499;

/** The most instructions of a compiled regular expression: what it costs for each character, at worst. */
const largestProgram = 300;

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
    const made = listMadeLabels({ source, hostname, level });
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

/** What a silence matches, compiled. */
export interface CompiledMatch {
  /** A key that everything it matches has; undefined if there is none, so that every alert is compared with it. */
  key: string | undefined;
  test(subject: Subject): boolean;
}

/** @throws HttpError for what matches nothing, or costs too much */
export const compileMatching = (matching: Matching): CompiledMatch =>
  'match' in matching ? compileMatch(matching.match) : compileMatchers(matching.matchers);

const compileMatch = ({ labels = {}, ...texts }: SilenceMatch): CompiledMatch => {
  const toMember =
    (isLabel: boolean) =>
    ([name, given]: [string, string]) => {
      const pattern = given.toLowerCase();
      return { name, isLabel, pattern, isMatch: createLikeTest(pattern) };
    };
  const members = [...Object.entries(texts).map(toMember(false)), ...Object.entries(labels).map(toMember(true))];
  if (members.length === 0) {
    throw new HttpError('invalid', 'match needs at least one of source, hostname, level, text and labels');
  }
  const level = texts.level?.toLowerCase();
  if (level !== undefined && !severities.some((severity) => isLike(severity.toLowerCase(), level))) {
    throw new HttpError('invalid', `match.level must match one of ${severities.join(', ')}`);
  }
  // Levels are few: they tell little apart.
  const telling = members.filter(({ name, isLabel }) => isLabel || name !== 'level');
  const keys = telling.flatMap(({ name, isLabel, pattern }) => toKey(isLabel ? `label ${name}` : name, pattern) ?? []);
  return {
    // Of several the longest is the rarest.
    key: keys.toSorted((one, other) => other.length - one.length)[0],
    test: (subject) =>
      members.every(({ name, isLabel, isMatch }) => {
        const text = isLabel ? subject.lowerLabels.get(name) : subject.texts[name];
        return text !== undefined && isMatch(text);
      }),
  };
};

const compileMatchers = (matchers: readonly SilenceMatcher[]): CompiledMatch => {
  const tests = matchers.map((matcher) => ({ ...matcher, test: compileValue(matcher) }));
  // As Alertmanager has it: a silence of everything is a mistake.
  if (tests.every(({ test, isEqual }) => test('') === isEqual)) {
    throw new HttpError('invalid', 'at least one matcher must not match the empty string');
  }
  const exact = matchers.filter(
    ({ name, isRegex, isEqual, value }) => isEqual && !isRegex && value !== '' && !/^(?:severity|level)$/.test(name),
  );
  const keys = exact.map(({ name, value }) => toExactKey(`matcher ${name}`, cut(value)));
  return {
    key: keys.toSorted((one, other) => other.length - one.length)[0],
    test: ({ labels }) => tests.every(({ name, isEqual, test }) => test(labels.get(name) ?? '') === isEqual),
  };
};

/**
 * Whether labels pass a filter of Alertmanager's API, in which one that is missing passes only what says so. Throws an HttpError
 * for a regular expression that cannot be used.
 */
export const createLabelFilter = (matchers: readonly SilenceMatcher[]) => {
  const tests = matchers.map((matcher) => ({ ...matcher, test: compileValue(matcher) }));
  return (labels: ReadonlyMap<string, string>): boolean =>
    tests.every(({ name, value, isEqual, test }) => {
      const label = labels.get(name);
      if (value === '') return (label === undefined) === isEqual;
      return isEqual ? label !== undefined && test(cut(label)) : !test(cut(label ?? ''));
    });
};

const compileValue = ({ value, isRegex }: SilenceMatcher): ((text: string) => boolean) =>
  isRegex ? findExpression(value) : (text) => text === cut(value);

/** How many expressions, and how many texts that each was last asked about, are kept: both repeat. */
const keptExpressions = 1000;
const rememberedTexts = 200;

const expressions = new Map<string, (text: string) => boolean>();

const findExpression = (text: string): ((value: string) => boolean) => {
  const known = expressions.get(text) ?? compileExpression(text);
  if (expressions.size >= keptExpressions) expressions.clear();
  expressions.set(text, known);
  return known;
};

/** Expressions are RE2's, whose time is linear, and match whole texts. */
const compileExpression = (text: string): ((value: string) => boolean) => {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(text);
  } catch (error) {
    throw new HttpError('invalid', `the regular expression ${text} cannot be used: ${(error as Error).message}`);
  }
  if (expression.programSize() > largestProgram) {
    throw new HttpError('invalid', `the regular expression ${text} is too large: use fewer or smaller repetitions`);
  }
  const known = new Map<string, boolean>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const isMatch = expression.matches(value);
    if (known.size >= rememberedTexts) known.clear();
    known.set(value, isMatch);
    return isMatch;
  };
};

const toExactKey = (name: string, value: string): string => `${name}=${value}`;
const toPrefixKey = (name: string, start: string): string => `${name}^${start}`;

/** The key of all texts that are like the pattern; undefined where it begins with a wildcard. */
const toKey = (name: string, pattern: string): string | undefined => {
  const [start = ''] = pattern.split('*', 1);
  if (start === pattern) return toExactKey(name, pattern);
  return start === '' ? undefined : toPrefixKey(name, start.slice(0, prefixLength));
};

function* listKeys(name: string, value: string): Generator<string> {
  yield toExactKey(name, value);
  for (let length = 1; length <= prefixLength && length <= value.length; length += 1) {
    yield toPrefixKey(name, value.slice(0, length));
  }
}

/** The same as matchers of Alertmanager, for programs that know no others. */
export const toMatchers = (matching: Matching): readonly SilenceMatcher[] => {
  if ('matchers' in matching) return matching.matchers;
  const { labels = {}, ...texts } = matching.match;
  return [...Object.entries(texts), ...Object.entries(labels)].map(([name, pattern]) => ({
    name,
    value: `(?is)${/^\*+$/.test(pattern) ? '.+' : pattern.split('*').map(escapeExpression).join('.*')}`,
    isRegex: true,
    isEqual: true,
  }));
};

const escapeExpression = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
