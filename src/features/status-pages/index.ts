import { defineFeature } from '../../kit/feature.ts';
import { publicUrlSetting, toPublicUrl } from '../../kit/public-url.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { readStoredSecret } from '../../kit/stored-secret.ts';
import { hourMs } from '../../lib/units.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createAnnouncementRoutes } from './announcement-routes.ts';
import { createConfirmations } from './confirmations.ts';
import { createDocumentRoutes } from './document-routes.ts';
import { type PageKeeper, pageKind } from './kind.ts';
import { Mailings } from './mailings.ts';
import { findPageProblem, statusPageSettings } from './page.ts';
import { createPageRoutes } from './public-routes.ts';
import { createSettingsRoutes } from './routes.ts';
import { ServedPages } from './served.ts';
import { PageStore } from './store.ts';
import { createSubscribeRoutes } from './subscribe-routes.ts';
import { pagesTransfer } from './transfer.ts';

/** Status pages: public pages with the states of checks, announcements and maintenance. */
export const statusPages = defineFeature({
  name: 'status-pages',
  needs: ['settings', 'silences', 'incidents', 'availability', 'notifications'],
  profiles: [
    {
      name: 'status-pages',
      mounts: ['/'],
      summary: 'public pages with the states of checks',
      fixedAccess: 'closed',
    },
  ],
  settings: { ...statusPageSettings, ...publicUrlSetting },
  findProblems: ({ statusPages: pages }) => [
    ...(new Set(pages.map(({ name }) => name)).size < pages.length ? ['each status page needs a different name'] : []),
    ...pages.flatMap((page) => {
      const problem = findPageProblem(page);
      return problem === undefined ? [] : [`statusPages: ${page.name}: ${problem}`];
    }),
  ],
  transfer: pagesTransfer,
  create: async ({ settings, offers, storage, clock, log, authorize, base, deriveSecrets }) => {
    const { database } = storage;
    const lease = database ? createLease(database, 'status-pages') : ownLease;
    const store = await PageStore.open({ storage, lease, clock, report: log });
    let saving: NodeJS.Timeout | undefined;
    const { silences, availability, incidents } = offers;
    const keeper: PageKeeper = new SettingKeeper(pageKind, {
      settings: offers.settings,
      configured: settings.statusPages,
      onUnusable: (name, err) =>
        log.error({ err, name }, 'status pages: a stored page cannot be used and is not served'),
    });
    const pages = new ServedPages({
      keeper,
      availability,
      silences,
      listAnnouncements: (page) => store.state.listAnnouncements().filter((one) => one.page === page),
      clock,
    });
    keeper.onChanged(() => pages.forgetDeleted());
    availability.onChanged(() => pages.noteChange());
    silences.onChanged(() => pages.noteChange());
    store.onChanged(() => pages.noteChange());
    const toUrl = (page: string): string => toPublicUrl(settings.publicUrl, base, `/status/${page}`);
    const { mailer } = offers.notifications;
    // Links in mails need a host name.
    const hasMail = (): boolean => settings.publicUrl !== undefined && mailer.isUsable;
    const shown = { keeper, pages, authorize, hasMail };
    const derived = deriveSecrets('subscribe');
    // Without a public address, no links are served, and no key is needed.
    const isKeyStored = derived.length === 0 && settings.publicUrl !== undefined;
    const keys = isKeyStored
      ? [
          await readStoredSecret(storage.file('subscribe.key'), (err) =>
            log.warn({ err }, 'status pages: the key for confirmation links cannot be stored'),
          ),
        ]
      : derived;
    const mailings = new Mailings({ store, keeper, mailer, hasMail, lease, toUrl, clock, log });
    return {
      profiles: {
        'status-pages': [
          ...createSettingsRoutes({ keeper, availability, store, clock }),
          ...createAnnouncementRoutes({ store, keeper, incidents, clock }),
          ...createPageRoutes(shown),
          ...createDocumentRoutes({ ...shown, toUrl }),
          ...createSubscribeRoutes({
            ...shown,
            store,
            mailer,
            confirmations: createConfirmations(keys, clock),
            toUrl,
            clock,
            log,
          }),
        ],
      },
      isReady: () => store.isReady,
      start: () => {
        mailings.start();
        // A start must read at most an hour of events.
        saving = setInterval(() => {
          if (!lease.isHeld()) return;
          void store
            .expireDepartures(clock().getTime())
            .catch((err: Error) => log.warn({ err }, 'status pages: expired departures cannot be removed'));
          void store.save();
        }, hourMs).unref();
      },
      reload: ({ statusPages: changed }) => {
        keeper.configure(changed);
        return [];
      },
      close: async () => {
        clearInterval(saving);
        await mailings.close();
        await lease.close();
        if (!database) await store.save();
        await store.close();
      },
    };
  },
});
