import type { App } from '../../app/create-app.ts';
import { version } from '../../app/package-info.ts';

/** The text printed on startup: the address, the mounts, the open routes, and notices such as random passwords. */
export const createStartMessage = ({ mounts, home, notices }: App, address: string): string => {
  const width = Math.max(...mounts.map(({ base }) => base.length), home.length) + 2;
  return [
    `signalbox ${version} listens on ${address}`,
    '',
    ...mounts.map(({ base, profiles }) => `  ${base.padEnd(width)}${profiles.map(({ name }) => name).join(', ')}`),
    ...(home === '/docs/' ? [] : [`  ${home.padEnd(width)}the web console`]),
    `  ${'/docs/'.padEnd(width)}pages for people; /openapi.json for programs`,
    '',
    'Open without a token:',
    ...listOpenRoutes(mounts).map((route) => `  ${route}`),
    ...(notices.length > 0 ? ['', ...notices] : []),
    '',
  ].join('\n');
};

/** The routes that need no token, a line for each path: `GET, POST /protected/api/tasks`. */
export const listOpenRoutes = (mounts: App['mounts']): string[] => mounts.flatMap(listOpenRoutesOf);

const listOpenRoutesOf = ({ base, profiles }: App['mounts'][number]): string[] => {
  const methods = new Map<string, string[]>();
  for (const { method, path, access } of profiles.flatMap(({ routes }) => routes)) {
    if (access === 'open') methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  return [...methods].map(([path, names]) => `${names.join(', ')} ${base === '/' ? '' : base}${path}`);
};
