import { joinTarget } from '../../../kit/people.ts';
import { toSettingFacts } from '../../../kit/setting-kind.ts';
import { toDurationWords } from '../../../lib/duration.ts';
import { minuteMs } from '../../../lib/units.ts';
import type { Rotation } from '../oncall/rotation.ts';
import type { DestinationSettings } from '../settings.ts';
import { stop } from './policy.ts';
import { derivedPolicy, type ShownPolicy } from './policy-kind.ts';

interface RulesSource {
  /** Destinations that get incidents. Does not include people's contact methods. */
  destinations: readonly DestinationSettings[];
  rotations: readonly Pick<Rotation, 'name' | 'kind' | 'members'>[];
}

/**
 * Converts `after`, `repeat`, `hours` and the rotations of destinations to a policy. Undefined without destinations.
 */
export const derivePolicy = ({ destinations, rotations }: RulesSource): ShownPolicy[] => {
  const waits = [...new Set(destinations.map(toAfterMs))].sort((one, other) => one - other);
  const [first] = waits;
  if (first === undefined) return [];
  const steps = waits.map((afterMs, index) => ({
    notify: listTargets(afterMs, { destinations, rotations }),
    wait: toDurationWords((waits[index + 1] ?? afterMs) - afterMs),
  }));
  return [
    {
      name: derivedPolicy,
      origin: derivedPolicy,
      steps: first > 0 ? [{ notify: [], wait: toDurationWords(first) }, ...steps] : steps,
      repeat: 0,
      then: stop,
      unknown: [],
      notes: destinations.flatMap(toNotes),
      ...toSettingFacts(undefined),
    },
  ];
};

/** Returns the targets of a step. Rotations take the place of their members. */
const listTargets = (afterMs: number, { destinations, rotations }: RulesSource): string[] => {
  const targets = destinations
    .filter((each) => toAfterMs(each) === afterMs)
    .flatMap(({ name }) => {
      const own = rotations
        .filter(({ kind, members }) => kind === 'destination' && members.includes(name))
        .map((rotation) => joinTarget('rotation', rotation.name));
      return own.length > 0 ? own : [joinTarget('destination', name)];
    });
  return [...new Set(targets)];
};

const toAfterMs = ({ after = 0 }: DestinationSettings): number => after * minuteMs;

const toNotes = ({ name, repeat, hours, levels, sources }: DestinationSettings): string[] => {
  const notes = [
    repeat !== undefined && `a reminder every ${toDurationWords(repeat * minuteMs)}`,
    hours !== undefined && `only ${hours}`,
    levels !== undefined && `only ${levels.join(', ')}`,
    sources !== undefined && `only ${sources.join(', ')}`,
  ].filter((note) => note !== false);
  return notes.length > 0 ? [`${name}: ${notes.join('; ')}`] : [];
};
