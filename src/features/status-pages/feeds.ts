import { createHash } from 'node:crypto';
import { escapeHtml } from '../../lib/html.ts';
import type { PageView } from './view.ts';
import { wordsOf } from './words.ts';

/** Maximum number of updates in a feed. */
const maxItems = 50;

/** Hashes an internal id, so that readers can recognize an entry without learning the id. */
export const toOpaqueId = (...parts: (string | number)[]): string =>
  createHash('sha256')
    .update(JSON.stringify(['status page', ...parts]))
    .digest('hex')
    .slice(0, 24);

/** Writes the updates of a page's announcements as RSS 2.0, newest first. `url` is the address of the page. */
export const writeRss = ({ page, open, past, at }: PageView, url: string): string => {
  const { title, language = 'en' } = page.values;
  const { states } = wordsOf[language];
  const items = [...open, ...past]
    .flatMap(({ id, title: subject, updates }) =>
      updates.map((update) => ({ ...update, subject, guid: toOpaqueId(id, update.number) })),
    )
    .sort((one, other) => other.at - one.at)
    .slice(0, maxItems)
    .map(({ guid, subject, state, text, at: time }) =>
      [
        '<item>',
        `<title>${escapeHtml(`${states[state]}: ${subject}`)}</title>`,
        `<description>${escapeHtml(text)}</description>`,
        `<link>${escapeHtml(url)}</link>`,
        `<guid isPermaLink="false">${guid}</guid>`,
        `<pubDate>${new Date(time).toUTCString()}</pubDate>`,
        '</item>',
      ].join(''),
    );
  const newest = Math.max(0, ...[...open, ...past].flatMap(({ updates }) => updates.map((update) => update.at)));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0"><channel>',
    `<title>${escapeHtml(title)}</title>`,
    `<link>${escapeHtml(url)}</link>`,
    `<description>${escapeHtml(title)}</description>`,
    `<language>${language}</language>`,
    `<lastBuildDate>${new Date(newest || at).toUTCString()}</lastBuildDate>`,
    ...items,
    '</channel></rss>',
    '',
  ].join('\n');
};

/** Writes the current and planned maintenance of a page as iCalendar. */
export const writeMaintenanceCalendar = async ({ page, maintenance, at }: PageView): Promise<string> => {
  const { writeCalendar } = await import('../../kit/ics.ts');
  const { title, language = 'en' } = page.values;
  const name = `${title}: ${wordsOf[language].maintenance}`;
  const events = maintenance.map(({ id, startsAt, endsAt, names }) => ({
    uid: `${toOpaqueId(id, startsAt)}@signalbox`,
    summary: `${wordsOf[language].maintenance}: ${names.join(', ')}`,
    start: new Date(startsAt),
    end: new Date(endsAt),
  }));
  return writeCalendar(events, { name, product: 'status page', changedAt: new Date(at) });
};
