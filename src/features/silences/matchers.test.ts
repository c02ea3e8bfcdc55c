import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';
import type { Silenceable, SilenceMatcher } from '../../kit/silence-source.ts';
import { SilenceKeeper } from './keeper.ts';
import { assertMatching, compileMatching, type Matching, Subject, toMatchers } from './matchers.ts';
import type { StoredSilence } from './stored.ts';

const subject: Silenceable = {
  source: 'Backup',
  hostname: 'web-1',
  level: 'ERROR',
  text: 'Disk is full',
  labels: { team: 'DB', alertname: 'DiskFull' },
};

const matches = (matching: Matching, one = subject): boolean => compileMatching(matching).test(new Subject(one));

test('a silence matches case-insensitively, and only if all its members match', () => {
  for (const match of [
    { source: 'backup' },
    { hostname: 'web-*' },
    { level: 'err*' },
    { text: '*disk*' },
    { labels: { team: 'd*' } },
    { source: '*', labels: { team: '*' } },
  ]) {
    assert.ok(matches({ match }), JSON.stringify(match));
    assert.ok(matches({ matchers: toMatchers({ match }) }), JSON.stringify(match));
  }
  for (const match of [
    { source: 'backu' },
    { source: 'backup', hostname: 'web-2' },
    { level: 'WARNING' },
    { text: 'disk' },
    { labels: { Team: '*' } },
    { labels: { team: 'DB', other: '*' } },
  ]) {
    assert.ok(!matches({ match }), JSON.stringify(match));
  }
  assert.ok(!matches({ match: { labels: { team: '*' } } }, { ...subject, labels: null }));
});

const parse = (text: string): SilenceMatcher => {
  const [, name = '', operator = '', value = ''] = /^(\w+)(=~|!~|!=|=)(.*)$/s.exec(text) ?? [];
  return { name, value, isRegex: operator.includes('~'), isEqual: operator[0] === '=' };
};

test('matchers work as in Alertmanager: anchored, case-sensitive, and a missing label is empty', () => {
  for (const texts of [
    ['alertname=DiskFull'],
    ['alertname=~Disk.*', 'team!=web'],
    ['instance=web-1', 'severity=error'],
    ['alertname=~.+', 'nothing='],
    ['nothing!=x', 'team!~(web|mail)', 'source=Backup'],
    ['text=~(?i)disk.*', 'level=ERROR'],
    ['team!=web'],
    ['team!~(web|mail)', 'nothing!~x+'],
  ]) {
    assert.ok(matches({ matchers: texts.map(parse) }), texts.join());
  }
  assert.ok(!matches({ matchers: ['alertname=DiskFull', 'team!~D.'].map(parse) }));
  for (const text of ['alertname=diskfull', 'alertname=~Disk', 'nothing=~.+', 'severity=critical']) {
    assert.ok(!matches({ matchers: [parse(text)] }), text);
  }
});

test('a silence that matches nothing, matches everything by mistake or costs too much is refused', () => {
  const refused: [Matching, RegExp][] = [
    [{ match: {} }, /at least one of/],
    [{ match: { labels: {} } }, /at least one of/],
    [{ match: { level: 'warn' } }, /must match one of CRITICAL, ERROR/],
    [{ matchers: [] }, /must not match the empty string/],
    [{ matchers: [parse('a=~.*')] }, /must not match the empty string/],
    [{ matchers: ['a=~.*', 'b='].map(parse) }, /must not match the empty string/],
    [{ matchers: ['a=b', 'c=~(', 'd=e'].map(parse) }, /cannot be used/],
    [{ matchers: Array.from({ length: 20 }, () => parse('a=~[ab]*a[ab]{90}c')) }, /too large/],
    [{ matchers: [parse('a=~(?i)[a-\\x{ffff}]{20}')] }, /too large/],
    [{ matchers: [parse('a=~\\pL{70}')] }, /too large/],
    [{ matchers: [parse('a=~(?=x)')] }, /cannot be used/],
    [{ matchers: [parse('a=~(')] }, /cannot be used/],
    [{ matchers: [parse('a=~(.{500}){2}')] }, /too large/],
    [{ matchers: [parse('a=~((x{100}){100}){100}')] }, /cannot be used|too large/],
  ];
  for (const [matching, message] of refused) {
    assert.throws(() => assertMatching(matching), { status: 400, message }, JSON.stringify(matching));
  }
});

test('an expression with exponential backtracking in other engines takes less than a second', () => {
  const { test: isMatch } = compileMatching({ matchers: [parse('text=~(a+)+$')] });
  const begin = performance.now();
  assert.equal(isMatch(new Subject({ ...subject, text: `${'a'.repeat(1_000_000)}b` })), true);
  assert.equal(isMatch(new Subject({ ...subject, text: `${'a'.repeat(400)}b` })), false);
  assert.ok(performance.now() - begin < 1000);
});

/** Creates a keeper with silences that are always active. */
const keep = (matchings: readonly Matching[]): SilenceKeeper => {
  const settings = matchings.map(
    (matching, index): RuntimeSetting<StoredSilence> => ({
      name: `${index}`,
      version: 1,
      by: '',
      at: 0,
      createdAt: 0,
      value: { matching, startsAt: 0, endsAt: 8.64e15, comment: '', createdBy: '' },
    }),
  );
  const store = {
    list: () => settings,
    onChanged: () => undefined,
    noteBroken: () => undefined,
  } as unknown as SettingStore;
  return new SilenceKeeper({
    settings: store,
    clock: () => new Date(0),
    onUnusable: (_id, error) => {
      throw error;
    },
  });
};

const word = fc.stringMatching(/^[aAbİ]{0,4}$/);
const pattern = fc.stringMatching(/^[aAb*]{1,4}$/);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const labelNames = fc.constantFrom('x', 'y', 'source');

const anySubject: fc.Arbitrary<Silenceable> = fc.record({
  source: word,
  hostname: word,
  text: word,
  level: fc.constantFrom('ERROR', 'INFO'),
  labels: fc.option(fc.dictionary(labelNames, word)),
});
const anyMatch = fc
  .record({
    source: maybe(pattern),
    hostname: maybe(pattern),
    text: maybe(pattern),
    level: maybe(fc.constantFrom('error', 'IN*', '*')),
    labels: maybe(fc.dictionary(labelNames, pattern, { minKeys: 1 })),
  })
  .map((match) => ({ match: JSON.parse(JSON.stringify(match)) }))
  .filter(({ match }) => Object.keys(match).length > 0);
const anyMatcher = fc.record({
  name: fc.constantFrom('x', 'y', 'source', 'text', 'alertname', 'severity', 'none'),
  value: fc.constantFrom('a', 'b', 'ab', '', 'error', 'a.*', '(a|b)+', '[^b]*'),
  isRegex: fc.boolean(),
  isEqual: fc.boolean(),
});
const anyMatchers = fc.array(anyMatcher, { minLength: 1, maxLength: 3 }).map((matchers) => ({ matchers }));

const naiveMatcher = ({ name, value, isRegex, isEqual }: SilenceMatcher, labels: Record<string, string>): boolean => {
  const text = labels[name] ?? '';
  return (isRegex ? new RegExp(`^(?:${value})$`).test(text) : text === value) === isEqual;
};

const isLikeNaive = (text: string | undefined, like: string | undefined): boolean => {
  if (like === undefined) return true;
  const expression = like.toLowerCase().split('*').join('[^]*');
  return text !== undefined && new RegExp(`^${expression}$`).test(text.toLowerCase());
};

const naive = (matching: Matching, { labels, ...texts }: Silenceable): boolean => {
  if ('match' in matching) {
    const { labels: wanted = {}, ...patterns } = matching.match;
    return (
      Object.entries(patterns).every(([name, like]) => isLikeNaive(texts[name as 'source'], like)) &&
      Object.entries(wanted).every(([name, like]) => isLikeNaive(labels?.[name], like))
    );
  }
  const derived = {
    alertname: texts.source || 'signalbox',
    severity: texts.level.toLowerCase(),
    instance: texts.hostname,
  };
  return matching.matchers.every((matcher) => naiveMatcher(matcher, { ...derived, ...texts, ...labels }));
};

test('the index finds exactly the silences that a naive model finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(anyMatch, anyMatchers), { maxLength: 12 }),
      fc.array(anySubject, { minLength: 1, maxLength: 4 }),
      (matchings: Matching[], subjects) => {
        const keeper = keep(matchings);
        for (const one of subjects) {
          const expected = matchings.flatMap((matching, index) => (naive(matching, one) ? [`${index}`] : []));
          assert.deepEqual(keeper.silencesOf(one, 1), expected.sort());
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test('an alert is compared with few of 10,000 silences', () => {
  const matchings = Array.from({ length: 10_000 }, (_, index) =>
    index % 2 === 0
      ? { match: { source: `service-${index}*`, text: '*full*' } }
      : { matchers: [parse(`alertname=a${index}`), parse('instance=~web-[0-9]+')] },
  );
  const keeper = keep(matchings);
  const alerts = Array.from({ length: 1000 }, (_, index) => ({ ...subject, labels: { alertname: `a${index}` } }));
  keeper.silencesOf(subject, 1);
  const begun = performance.now();
  const found = alerts.flatMap((alert) => keeper.silencesOf(alert, 1));
  const ms = performance.now() - begun;
  assert.equal(found.length, 500);
  // Comparing 50 alerts with all silences takes longer than comparing 1,000 alerts through the index.
  const compared = performance.now();
  for (const alert of alerts.slice(0, 50)) for (const matching of matchings) naive(matching, alert);
  const naiveMs = performance.now() - compared;
  assert.ok(ms < naiveMs, `${ms} ms, and ${naiveMs} ms for 50`);
});
