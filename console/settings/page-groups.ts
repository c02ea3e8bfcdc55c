import type { StatusPage } from 'signalbox/client';
import { settingTexts as words } from '../strings/settings.ts';

type Groups = StatusPage['groups'];

/** Writes groups as lines: `# GROUP`, and `NAME = KIND NAME` for each check. */
export const writePageGroups = (groups: Groups): string =>
  groups
    .map(({ name, checks }) =>
      [
        `# ${name}`,
        ...checks.map(({ name: shown, ...check }) => `${shown} = ${Object.entries(check).flat().join(' ')}`),
      ].join('\n'),
    )
    .join('\n\n');

/** Parses lines written by `writePageGroups`. Throws an Error that names the line. */
export const parsePageGroups = (given: string): Groups => {
  const groups: Groups = [];
  for (const line of given.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      groups.push({ name: line.slice(1).trim(), checks: [] });
      continue;
    }
    // The name on the page may also contain the sign.
    const [, name = '', kind = '', check = ''] = /^(.+?)\s*=\s*(watch|heartbeat|host)\s+(\S.*)$/.exec(line) ?? [];
    const group = groups.at(-1);
    if (name === '' || !group) throw new Error(words.pages.badLine(line));
    group.checks.push({ name, [kind]: check });
  }
  return groups;
};
