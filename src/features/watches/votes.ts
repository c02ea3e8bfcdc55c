import type { PlaceCheck } from '../../kit/offers.ts';
import { observe } from './condition.ts';
import type { KnownWatch } from './known-watch.ts';
import type { Finding, WatchReadings } from './watch-type.ts';

/** Place of this server. */
const hubPlace = 'hub';

/** Seconds for which a host's result remains valid beyond two periods of its watch. */
const marginSeconds = 30;

type Verdict = PlaceCheck['state'];

/** Result that one place has for a thing. */
interface Vote {
  place: string;
  state: Verdict;
  words: string;
}

/** Judges a finding by the first limit of its watch. */
const judgeFinding = (finding: Finding, { limits }: Pick<KnownWatch, 'limits'>): Verdict => {
  if ('isUnknown' in finding) return 'unknown';
  if ('isBad' in finding) return finding.isBad ? 'bad' : 'good';
  const own = finding.limits ?? limits;
  return own && observe(finding.figure, own).limit === 'bad' ? 'bad' : 'good';
};

/**
 * Runs the check of a watch. With `from`, combines the results of all places. Rejects with the reason why the check
 * failed.
 */
export const checkAtPlaces = async (
  watch: KnownWatch,
  readings: WatchReadings,
  signal: AbortSignal,
): Promise<Finding[]> => {
  const { settings, type } = watch;
  const check = () => type.check(settings, readings, signal);
  if (!settings.from) return check();
  const toUnknown = (error: Error): Finding[] => [{ thing: settings.name, isUnknown: true, words: error.message }];
  const own = settings.from.includes(hubPlace) ? await check().catch(toUnknown) : [];
  return countVotes(watch, own, readings.listChecks?.(settings.name) ?? [], readings.clock().getTime());
};

/** Combines the findings of this server and the results from hosts. The outcome is one finding per thing. */
const countVotes = (
  watch: KnownWatch,
  own: readonly Finding[],
  checks: readonly PlaceCheck[],
  now: number,
): Finding[] => {
  const { from = [], votes = Math.floor(from.length / 2) + 1 } = watch.settings;
  const freshMs = 2 * watch.everyMs + marginSeconds * 1000;
  const recent = checks.filter(({ host, at }) => from.includes(host) && now - at <= freshMs);
  const things = new Set([...own, ...recent].map(({ thing }) => thing));
  if (things.size === 0) things.add(watch.settings.name);
  return [...things].map((thing): Finding => {
    const all = from.map((place): Vote => {
      const known = place === hubPlace ? own.find((each) => each.thing === thing) : undefined;
      if (known) return { place, state: judgeFinding(known, watch), words: known.words };
      const check = recent.find((each) => each.host === place && each.thing === thing);
      return check ? { place, state: check.state, words: check.text } : { place, state: 'unknown', words: '' };
    });
    const by = (state: Verdict): Vote[] => all.filter((vote) => vote.state === state);
    const [bad, good, unknown] = [by('bad'), by('good'), by('unknown')];
    if (bad.length + good.length === 0) {
      const reason = unknown.find(({ words }) => words !== '')?.words ?? `no place has checked ${thing}`;
      return { thing, isUnknown: true, words: reason };
    }
    const isBad = bad.length >= votes;
    const first = (isBad ? bad : [...good, ...bad])[0];
    return { thing, isBad, words: `${first?.words} (${describePlaces(bad, good, unknown, from.length)})` };
  });
};

/** Describes the votes of places: `from 2 of 3 places: hub, web-1; web-2 reaches it`. */
const describePlaces = (
  bad: readonly Vote[],
  good: readonly Vote[],
  unknown: readonly Vote[],
  count: number,
): string => {
  const names = (votes: readonly Vote[]): string => votes.map(({ place }) => place).join(', ');
  const parts = [
    bad.length > 0 ? `from ${bad.length} of ${count} places: ${names(bad)}` : '',
    good.length > 0 ? `${names(good)} ${good.length === 1 ? 'succeeds' : 'succeed'}` : '',
    unknown.length > 0 ? `${names(unknown)} ${unknown.length === 1 ? 'has' : 'have'} not checked` : '',
  ];
  return parts.filter(Boolean).join('; ');
};
