import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Sidebar of the site, created from the lists in docs/README.md, and its first page. If a page is missing there, a test
 * fails.
 */
const overview = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'README.md'), 'utf8');

const listPages = (text) =>
  [...text.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].map(([, name, file]) => ({
    text: name,
    link: `/${file.replace(/(README)?\.md$/, '')}`,
  }));

/** Converts `- **Get notified:** [ntfy](…), …` to a collapsed group, and other list items to pages. */
const toEntries = (item) => {
  const [, title] = /^\*\*(.+):\*\*/.exec(item) ?? [];
  const pages = listPages(item);
  return title === undefined ? pages : [{ text: title, items: pages, collapsed: true }];
};

const [, ...sections] = overview.split(/^## /m);

export const sidebar = sections.map((section) => {
  const [heading, ...items] = section.split(/\n+(?:- |$)/);
  return { text: heading, items: items.flatMap(toEntries) };
});

export const home = {
  layout: 'home',
  hero: {
    name: 'signalbox',
    text: 'An operations desk for your servers',
    tagline:
      'Alerts come in through one URL and become incidents. The person on call is reminded until somebody acknowledges.',
    actions: [
      { theme: 'brand', text: 'Your first alert', link: '/start' },
      { theme: 'alt', text: 'When not to use it', link: '/when-not-to-use-it' },
    ],
  },
};
