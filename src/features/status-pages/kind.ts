import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { HttpError } from '../../http/errors.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind, settingFacts, settingOrigin } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { defineList, defineShape } from '../../kit/shape.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import {
  findPageProblem,
  type PageValues,
  pageName,
  pageNamePattern,
  pageSettings,
  type StatusPageSettings,
} from './page.ts';

export const PageParams = Type.Object({ page: Type.String({ description: 'Name of a status page.' }) });

/** Request body: the settings. The name may be included if it equals the name in the path. */
export const PageBody = Type.Object({ name: Type.Optional(pageName), ...pageSettings }, { title: 'StatusPageBody' });

export const ShownPage = defineShape('StatusPage', {
  name: pageName,
  origin: settingOrigin,
  ...pageSettings,
  unknown: Type.Array(Type.String({ examples: ['watch:shop'] }), {
    description: 'Checks of the page that are not defined; the page shows their state as unknown.',
  }),
  ...settingFacts,
});
export type ShownPage = Static<typeof ShownPage>;

export const PageList = defineList('StatusPageList', 'Pages', ShownPage, 'Sorted by name.');

export interface KnownPage {
  name: string;
  values: PageValues;
  /** Runtime setting. Undefined for a page from the config file. */
  setting: RuntimeSetting<PageValues> | undefined;
}

const isPage = createSchemaCheck(PageBody);

export const pageKind = defineSettingKind<PageValues, KnownPage, StatusPageSettings>({
  name: 'status-page',
  noun: 'Status page',
  path: '/api/status-pages',
  params: PageParams,
  shape: ShownPage,
  versionOf: 'page',
  reading: needs('incidents:read'),
  changing: needs('settings:write'),
  limits: { count: 50, plural: 'status pages', withConfigured: true },
  order: 'name',
  unread: 'The status pages have not been read yet',
  assertName: (given) => {
    if (new RegExp(pageNamePattern).test(given)) return;
    throw new HttpError(
      'invalid',
      'The name of a status page must consist of up to 63 lower-case letters, digits and "-"',
    );
  },
  compile: (setting) => {
    if (!isPage(setting.value)) throw new Error('this version cannot read the stored page');
    const problem = findPageProblem(setting.value);
    if (problem !== undefined) throw new HttpError('invalid', problem);
    return { name: setting.name, values: setting.value, setting };
  },
  fromConfig: ({ name, ...values }) => ({ name, values, setting: undefined }),
});

export type PageKeeper = SettingKeeper<PageValues, KnownPage, StatusPageSettings>;
