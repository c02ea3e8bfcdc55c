import type { FastifyInstance } from 'fastify';
import type { Settings } from '../config/schema.ts';
import type { Feature, FeatureInstance, Parts, Profile } from '../profiles/feature.ts';
import type { Offers } from '../profiles/offers.ts';
import type { Topic } from '../profiles/topic.ts';
import { toProfileLevel, toRouteAccess, toTopicAccess } from './access.ts';
import type { ProfileRoutes } from './mounts.ts';
import { type Plan, pickOwn } from './preflight.ts';
import type { AppStorage } from './storage.ts';

/** A mounted feature and its instance. */
export interface MountedFeature {
  feature: Feature;
  instance: FeatureInstance;
}

/** What a feature may ask about all of them, once all are created. */
type Overview = Pick<Parts, 'topics' | 'listUnavailable' | 'findConcerns'>;

/**
 * Creates the mounted features in their order, and closes them with the server; each receives its own settings and seed
 * records, and no others.
 */
export const createFeatures = async (
  server: FastifyInstance,
  settings: Settings,
  plan: Plan,
  storage: AppStorage,
  parts: Omit<Parts, keyof AppStorage | keyof Overview | 'offers' | 'records'>,
) => {
  const mounted: MountedFeature[] = [];
  const topics = new Map<string, Topic>();
  const offers: Offers = {};
  const listMounted = (): readonly MountedFeature[] => {
    if (mounted.length === plan.mounted.length) return mounted;
    throw new Error('a feature asks about all features before they are created');
  };
  const listUnavailable = async (): Promise<string[]> => {
    const all = listMounted();
    const ready = await Promise.all(all.map(({ instance }) => instance.isReady?.() ?? true));
    return all.filter((_, index) => !ready[index]).map(({ feature }) => feature.name);
  };
  const overview: Overview = {
    topics: () => {
      listMounted();
      return topics;
    },
    listUnavailable,
    findConcerns: async () => [
      ...listMounted().flatMap(({ instance }) => instance.findConcerns?.() ?? []),
      ...storage.findStorageConcerns(await listUnavailable()),
    ],
  };
  const isServed = ({ name }: Profile) => plan.mounts.some(({ profiles }) => profiles.includes(name));
  for (const feature of plan.mounted) {
    const instance = await feature.create({
      ...storage,
      ...parts,
      ...overview,
      offers,
      settings: pickOwn(settings, feature.settings),
      records: pickOwn(plan.records, feature.seed),
    });
    mounted.push({ feature, instance });
    Object.assign(offers, instance.offers);
    const profile = feature.profiles.find(isServed);
    const level = profile && toProfileLevel(settings.access, profile);
    for (const [name, topic] of Object.entries(instance.topics ?? {})) {
      topics.set(name, { ...topic, access: toTopicAccess(topic, level) });
    }
    server.addHook('preClose', async () => instance.stop?.());
    server.addHook('onClose', async () => instance.close?.());
  }
  return { mounted, topics };
};

/** The routes of a feature's profiles, with the access that the settings give them. */
export const listProfileRoutes = ({ feature, instance }: MountedFeature, { access }: Settings): ProfileRoutes[] =>
  feature.profiles.map((profile) => {
    const level = toProfileLevel(access, profile);
    const routes = instance.profiles[profile.name] ?? [];
    return {
      name: profile.name,
      aliases: profile.aliases ?? [],
      strict: profile.strict ?? false,
      routes: routes.map((route) => ({ ...route, access: toRouteAccess(route, level) })),
    };
  });
