import type { AvailabilitySource } from '../../kit/availability.ts';
import type { Route } from '../../kit/route.ts';
import { toSettingFacts } from '../../kit/setting-kind.ts';
import { createSettingRoutes } from '../../kit/setting-routes.ts';
import { type KnownPage, PageBody, type PageKeeper, PageList, pageKind, ShownPage } from './kind.ts';
import { toCheckId } from './page.ts';
import type { PageStore } from './store.ts';

interface SettingsParts {
  keeper: PageKeeper;
  availability: Pick<AvailabilitySource, 'findSubject'>;
  store: Pick<PageStore, 'note'>;
  clock: () => Date;
}

/** Creates the routes that list, read and change status pages. */
export const createSettingsRoutes = ({ keeper, availability, store, clock }: SettingsParts): Route[] => {
  const show = ({ name, values, setting }: KnownPage): ShownPage => ({
    name,
    origin: setting ? 'made' : 'config',
    ...values,
    unknown: values.groups.flatMap(({ checks }) =>
      checks.map(toCheckId).filter((id) => availability.findSubject(id) === undefined),
    ),
    ...toSettingFacts(setting),
  });
  const { list, read, put, remove } = createSettingRoutes(pageKind, keeper, show);
  return [
    list({ operationId: 'listStatusPages', summary: 'List status pages', response: PageList }),
    read({ operationId: 'getStatusPage', summary: 'Get the settings of a status page' }),
    put(
      { operationId: 'putStatusPage', summary: 'Create or replace a status page', body: PageBody, ignores: ShownPage },
      ({ name: _, ...values }) => values,
    ),
    remove(
      { operationId: 'deleteStatusPage', summary: 'Delete a status page with its announcements and subscribers' },
      async (name, { by, expected }) => {
        const shown = show(keeper.requireRuntime(name));
        await keeper.delete(name, by, expected);
        await store.note({ type: 'forgotten', page: name, at: clock().getTime() });
        return shown;
      },
    ),
  ];
};
