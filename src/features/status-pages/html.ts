import { escapeHtml } from '../../lib/html.ts';
import type { Announcement } from './announcement.ts';
import type { KnownPage } from './kind.ts';
import type { PageStyle } from './style.ts';
import { type CheckView, type DayTone, type PageView, shownDays } from './view.ts';
import { type Words, wordsOf } from './words.ts';

/** Maximum number of days that show their percentage on hover: the last days with outages. */
const maxTitles = 10;

/** Links on a page. */
export interface PageLinks {
  hasLogo: boolean;
  /** True if readers can subscribe by mail. */
  hasMail: boolean;
}

/** Creates the formats for a page's language and time zone. */
const createFormats = (language: string, timeZone: string) => {
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone });
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const zoned = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  });
  const numbers = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  const write = (at: number, text: string): string =>
    `<time datetime="${new Date(at).toISOString().slice(0, 16)}Z">${escapeHtml(text)}</time>`;
  return {
    date: (at: number) => dates.format(at),
    day: (day: string) => days.format(new Date(`${day}T00:00:00Z`)),
    time: (at: number) => write(at, times.format(at)),
    zoned: (at: number) => write(at, zoned.format(at)),
    range: (from: number, to: number) => write(from, times.formatRange(from, to)),
    // Percentages are rounded down, so that a day with an outage never shows 100 %.
    percent: (value: number) => `${numbers.format(Math.floor(100 * value) / 100)} %`,
    // Unknown shares are rounded up, except for the inexact last digits of a product.
    unknownShare: (value: number) => `${numbers.format(Math.ceil(100 * value - 1e-9) / 100)} %`,
  };
};
type Formats = ReturnType<typeof createFormats>;

/** Writes a page without scripts. All strings are escaped. */
export const writeStatusPage = (view: PageView, style: PageStyle, { hasLogo, hasMail }: PageLinks): string => {
  const { page, timeZone, groups, maintenance, open, past, summary, at } = view;
  const { name, values } = page;
  const { language = 'en' } = values;
  const words = wordsOf[language];
  const formats = createFormats(language, timeZone);
  const hasChecks = groups.some(({ checks }) => checks.length > 0);
  // A summary that reports no problems would contradict an open announcement.
  const hasSummary = hasChecks && (summary !== 'up' || open.length === 0);
  const planned = maintenance.map(({ startsAt, endsAt, names }) => {
    const when = formats.range(startsAt, endsAt);
    return `<li><b>${escapeHtml(names.join(', '))}</b><br>${when}</li>`;
  });
  const links = [
    ...(hasMail ? [`<a href="${name}/subscribe">${escapeHtml(words.subscribe)}</a>`] : []),
    `<a href="${name}/rss.xml">RSS</a>`,
    `<a href="${name}/maintenance.ics">${escapeHtml(words.calendar)}</a>`,
  ];
  const head = [
    '<meta http-equiv="refresh" content="120">',
    ...(hasLogo ? [`<link rel="icon" href="${name}/logo">`] : []),
    `<link rel="alternate" type="application/rss+xml" href="${name}/rss.xml">`,
  ];
  return writeDocument(page, style, head, [
    writeHeader(page, hasLogo ? `${name}/logo` : undefined),
    '<main>',
    ...(hasSummary ? [`<p class="sum ${summary}">${escapeHtml(words.summaries[summary])}</p>`] : []),
    ...open.map((each) => writeAnnouncement(each, words, formats, 'card open')),
    ...groups.flatMap(({ name: heading, checks }) => [
      `<h2>${escapeHtml(heading)}</h2>`,
      `<ul>${checks.map((check) => writeCheck(check, words, formats)).join('\n')}</ul>`,
    ]),
    ...(planned.length === 0 ? [] : [`<h2>${escapeHtml(words.maintenance)}</h2>`, `<ul>${planned.join('\n')}</ul>`]),
    `<h2>${escapeHtml(words.past)}</h2>`,
    ...(past.length === 0 ? [`<p class="q">${escapeHtml(words.none)}</p>`] : []),
    ...past.map((each) => writeAnnouncement(each, words, formats, 'card')),
    '</main>',
    `<footer><nav>${links.join('')}</nav>`,
    ...(hasChecks ? [`<p class="q">${escapeHtml(words.rule)}</p>`] : []),
    `<p class="q">${escapeHtml(words.updated)} ${formats.zoned(at)}</p></footer>`,
  ]);
};

interface SubscribeContent {
  text: string;
  form: 'address' | 'confirm' | 'leave' | undefined;
  hasLogo: boolean;
  /** Relative path to the folder of the page's documents. */
  up: '' | '../';
}

/** Writes a small page with a message and, if needed, a form with one button. */
export const writeSubscribePage = (
  page: KnownPage,
  style: PageStyle,
  { text, form, hasLogo, up }: SubscribeContent,
): string => {
  const { name, values } = page;
  const { mail, subscribe } = wordsOf[values.language ?? 'en'];
  const field = `<label>${escapeHtml(mail.address)}<input name="address" type="email" autocomplete="email" required maxlength="254"></label>`;
  const button = { address: subscribe, confirm: mail.confirm, leave: mail.leave };
  return writeDocument(
    page,
    style,
    ['<meta name="robots" content="noindex">'],
    [
      writeHeader(page, hasLogo ? `${up}logo` : undefined),
      '<main>',
      `<h2>${escapeHtml(subscribe)}</h2>`,
      `<p>${escapeHtml(text)}</p>`,
      // A form without `action` is sent to its own address, including the token.
      ...(form
        ? [`<form method="post">${form === 'address' ? field : ''}<button>${escapeHtml(button[form])}</button></form>`]
        : []),
      `<p><a href="${up}../${name}">${escapeHtml(mail.back)}</a></p>`,
      '</main>',
    ],
  );
};

const writeDocument = (
  { values }: KnownPage,
  style: PageStyle,
  head: readonly string[],
  body: readonly string[],
): string =>
  [
    '<!doctype html>',
    `<html lang="${values.language ?? 'en'}">`,
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(values.title)}</title>`,
    ...head,
    `<style>${style.text}</style>`,
    '</head>',
    '<body>',
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');

const writeHeader = ({ values }: KnownPage, logo: string | undefined): string =>
  `<header>${logo === undefined ? '' : `<img src="${logo}" alt="">`}<h1>${escapeHtml(values.title)}</h1></header>`;

const writeAnnouncement = (
  { title, state, updates }: Announcement,
  words: Words,
  formats: Formats,
  classes: string,
): string => {
  const parts = updates
    .toReversed()
    .map(
      ({ at, state: of, text }) =>
        `<p><span class="s ${of}">${escapeHtml(words.states[of])}</span> ${formats.time(at)}</p><p class="text">${escapeHtml(text)}</p>`,
    );
  const current = `<span class="s ${state}">${escapeHtml(words.states[state])}</span>`;
  // Open announcements come right below the page's title. Past announcements have a heading above them.
  const level = state === 'resolved' ? 'h3' : 'h2';
  const heading = `<${level}>${escapeHtml(title)}</${level}>`;
  return `<article class="${classes}"><div class="row">${heading}${current}</div>${parts.join('')}</article>`;
};

const writeCheck = (check: CheckView, words: Words, formats: Formats): string => {
  const { name, state, percentage, unknown, days } = check;
  const known = percentage === null ? '–' : formats.percent(percentage);
  const share = escapeHtml(`${known} · ${formats.unknownShare(unknown)} ${words.states.unknown.toLowerCase()}`);
  const current = `<span class="s ${state}">${escapeHtml(words.states[state])}</span>`;
  const writeRow = (right: string): string => `<div class="row"><b>${escapeHtml(name)}</b>${right}</div>`;
  if (days.length === 0) return `<li>${writeRow(`<span><span class="q">${share}</span> ${current}</span>`)}</li>`;
  const ago = (count: number): string => escapeHtml(words.daysAgo(count));
  return [
    `<li>${writeRow(current)}<div class="bar">${drawBar(days, formats, `${shownDays} d: ${known}`)}</div>`,
    `<div class="row q"><span><span class="many">${ago(shownDays)}</span><span class="few">${ago(shownDays / 2)}</span></span>`,
    `<span>${share}</span><span>${escapeHtml(words.today)}</span></div></li>`,
  ].join('');
};

const tones: Record<DayTone, string> = { good: 'g', part: 'p', bad: 'b', work: 'w', none: 'n' };

/** Draws the days as one path per tone, so that a healthy check takes few bytes. */
const drawBar = (days: CheckView['days'], formats: Formats, label: string): string => {
  const paths = new Map<DayTone, string>();
  for (let at = 0; at < days.length; ) {
    const tone = days[at]?.tone ?? 'none';
    let end = at;
    while (end < days.length && days[end]?.tone === tone) end += 1;
    // A day is missing if the time zone skipped it.
    const from = shownDays - days.length + at;
    paths.set(tone, `${paths.get(tone) ?? ''}M${from} 0h${end - at}v1h-${end - at}z`);
    at = end;
  }
  const titles = days
    .flatMap(({ day, tone, percentage }, index) =>
      (tone === 'part' || tone === 'bad') && percentage !== null
        ? [[index + shownDays - days.length, `${formats.day(day)}: ${formats.percent(percentage)}`] as const]
        : [],
    )
    .slice(-maxTitles)
    .map(([x, text]) => `<rect class="t" x="${x}" width="1" height="1"><title>${escapeHtml(text)}</title></rect>`);
  const drawn = Array.from(paths, ([tone, path]) => `<path class="${tones[tone]}" d="${path}"/>`);
  return `<svg viewBox="0 0 ${shownDays} 1" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(label)}">${drawn.join('')}${titles.join('')}</svg>`;
};
