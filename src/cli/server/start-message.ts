import type { App } from '../../app/create-app.ts';
import { version } from '../../app/package-info.ts';

type Mounts = App['mounts'];

/** Profiles whose records a memory store forgets. */
const forgetful = ['tasks', 'protected-tasks', 'simple-tasks', 'items'];

/**
 * The text printed on startup: where the console is and where alerts go, the mounts, what is open without a token, and notices
 * such as random passwords.
 */
export const createStartMessage = (
  { mounts, home, notices }: Pick<App, 'mounts' | 'home' | 'notices'>,
  address: string,
  store: string,
): string => {
  const intake = mounts.find(({ profiles }) => profiles.some(({ name }) => name === 'alerts'));
  const local = address.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, '//localhost:');
  const addresses = [
    ...(home === '/docs/' ? [] : [['Console', `${local}${home}`]]),
    ...(intake ? [['Send alerts', `${local}${toPrefix(intake.base)}/api/alert`]] : []),
    ['API', `${local}/docs/`],
  ];
  const served = new Set(mounts.flatMap(({ profiles }) => profiles.map(({ name }) => name)));
  const isForgetful = store === 'memory' && forgetful.some((name) => served.has(name));
  return [
    `signalbox ${version} listens on ${address}`,
    '',
    ...toColumns(addresses),
    '',
    ...toColumns(mounts.map(({ base, profiles }) => [base, profiles.map(({ name }) => name).join(', ')])),
    '',
    `Open without a token: ${listOpenProfiles(mounts).join(', ') || 'nothing'}`,
    ...(isForgetful ? ['Tasks and items are lost when the server stops; --store file keeps them.'] : []),
    ...(notices.length > 0 ? ['', ...notices] : []),
    '',
  ].join('\n');
};

const toColumns = (rows: readonly (readonly string[])[]): string[] => {
  const width = Math.max(...rows.map(([first = '']) => first.length)) + 2;
  return rows.map(([first = '', second]) => `  ${first.padEnd(width)}${second}`);
};

const toPrefix = (base: string): string => (base === '/' ? '' : base);

/** The profiles that have routes without a token, marked where others of their routes need one. */
const listOpenProfiles = (mounts: Mounts): string[] => {
  const open = mounts.flatMap(({ profiles }) =>
    profiles.flatMap(({ name, routes }) => {
      const count = routes.filter(({ access }) => access === 'open').length;
      return count === 0 ? [] : [count === routes.length ? name : `${name} in part`];
    }),
  );
  return [...new Set(open)];
};
