import { openFor } from '../../auth/access.ts';
import { type Concern, defineFeature } from '../../kit/feature.ts';
import { createEventTopic } from '../../kit/topic.ts';
import type { Meters } from '../../metrics/meters.ts';
import { compileRules, findRuleProblems, inhibitSettings } from './inhibit-rules.ts';
import { SilenceKeeper } from './keeper.ts';
import { createSilenceRoutes } from './routes.ts';
import { Silence, silenceStates } from './schema.ts';
import { stateOf, toSilence } from './silence.ts';
import { createSilenceStore } from './silence-store.ts';

/** Milliseconds for which changes are collected before they are published. */
const collectingMs = 50;

/** Milliseconds between cleanups of old silences. */
const removalMs = 60_000;

/** Feature for silences: periods during which matching alerts notify nobody. */
export const silences = defineFeature({
  name: 'silences',
  needs: ['settings'],
  profiles: [
    {
      name: 'silences',
      aliases: ['incidents'],
      mounts: ['/'],
      summary: 'silences: matching alerts notify nobody for some time',
      fixedAccess: 'closed',
    },
  ],
  settings: inhibitSettings,
  findProblems: ({ inhibitRules }) => findRuleProblems(inhibitRules),
  create: async ({ settings, offers, clock, log, meters }) => {
    let rules = compileRules(settings.inhibitRules);
    const keeper = new SilenceKeeper({
      settings: offers.settings,
      clock,
      onUnusable: (id, err) => log.error({ err, id }, 'silences: a silence cannot be used and has no effect'),
    });
    addSilenceMeter(meters, keeper, clock);
    const { topic, publish } = createEventTopic(openFor('incidents:read'), Silence);
    let known = new Set(keeper.list());
    let collecting: NodeJS.Timeout | undefined;
    const publishChanged = (): void => {
      collecting = undefined;
      const at = clock().getTime();
      const current = keeper.list();
      for (const silence of current) if (!known.has(silence)) publish(() => toSilence(silence, at));
      known = new Set(current);
    };
    keeper.settings.onChanged(() => {
      collecting ??= setTimeout(publishChanged, collectingMs).unref();
    });
    let removal: NodeJS.Timeout | undefined;
    return {
      profiles: { silences: createSilenceRoutes({ keeper, clock }) },
      topics: { silences: topic },
      offers: { silences: createSilenceStore(keeper, () => rules, clock) },
      findConcerns: () => describeBroken(keeper.countBroken()),
      start: () => {
        removal = setInterval(() => void keeper.removeOld(), removalMs).unref();
      },
      reload: ({ inhibitRules }) => {
        rules = compileRules(inhibitRules);
        return [];
      },
      close: async () => {
        clearTimeout(collecting);
        clearInterval(removal);
      },
    };
  },
});

const describeBroken = (count: number): Concern[] => {
  if (count === 0) return [];
  const text = count === 1 ? '1 silence has no effect' : `${count} silences have no effect`;
  return [{ area: 'incidents', severity: 'WARNING', text: `${text}; the list of silences shows the reasons` }];
};

/** Counts silences when metrics are scraped. */
const addSilenceMeter = (meters: Meters, keeper: SilenceKeeper, clock: () => Date): void =>
  meters.reading(
    'gauge',
    'signalbox_silences',
    'Silences by state; expired silences are listed for 30 days.',
    () => {
      const at = clock().getTime();
      const states = keeper.list().map(({ windows }) => stateOf(windows.findAt(at), at));
      return silenceStates.map((state) => [[state], states.filter((each) => each === state).length] as const);
    },
    ['state'],
  );
