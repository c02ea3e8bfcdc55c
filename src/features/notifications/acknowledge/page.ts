import { hash } from 'node:crypto';
import { escapeHtml } from '../../../lib/html.ts';

/** Incident in the list. */
export interface PageRow {
  title: string;
  level: string;
  /** Single line below the title. */
  facts: string;
}

export interface AcknowledgePage {
  heading: string;
  text: string;
  rows: readonly PageRow[];
  /** True if at least one incident can be acknowledged. */
  hasButton: boolean;
  /** URL of the incident list in the console. */
  link: string | undefined;
}

/** Style sheet. Does not use `light-dark()`, because old phones do not support it. */
const style = `
:root { color-scheme: light dark; --paper: #f6f7f4; --raised: #fff; --ink: #1b2422; --quiet: #56625f; --accent: #0a6a50;
  --on-accent: #fff; --good: #0f7a57; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #101514; --raised: #181f1d; --ink: #e4eae7; --quiet: #a0ada9; --accent: #62d3a8;
    --on-accent: #0d1413; --good: #4fcf9b; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 32rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; line-height: 1.3; }
ul { margin: 1rem 0; padding: 0; list-style: none; }
li { margin: 0 0 .75rem; padding: .75rem 1rem; border-radius: .5rem; border-left: .3rem solid #6ba3d6;
  background: var(--raised); }
li.critical { border-color: #b3248a; }
li.error { border-color: #d5473d; }
li.warning { border-color: #d99a2b; }
li.resolved { border-color: var(--good); }
b { display: block; }
small { color: var(--quiet); font-size: .875rem; }
button { width: 100%; min-height: 3rem; border: 0; border-radius: .5rem; font: inherit; font-weight: 600;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
button:focus-visible, a:focus-visible { outline: .2rem solid var(--accent); outline-offset: .2rem; }
a { color: var(--accent); }
`;

/** Content security policy. Allows only the page's own style, and forms that post to the page's URL. */
const policy = [
  ...["default-src 'none'", `style-src 'sha256-${hash('sha256', style, 'base64')}'`, "form-action 'self'"],
  ...["base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');

/**
 * Response headers. Without `same-origin`, browsers would send the form with the origin `null`, and the server would
 * reject it.
 */
export const acknowledgeHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex',
};

/** Writes the page as HTML without scripts. All text from incidents is escaped. */
export const writePage = ({ heading, text, rows, hasButton, link }: AcknowledgePage): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(heading)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${escapeHtml(heading)}</h1>`,
    ...(text === '' ? [] : [`<p>${escapeHtml(text)}</p>`]),
    ...(rows.length === 0 ? [] : ['<ul>', ...rows.map(writeRow), '</ul>']),
    ...(hasButton ? ['<form method="post"><button>Acknowledge</button></form>'] : []),
    ...(link === undefined ? [] : [`<p><a href="${escapeHtml(link)}">Open in the console</a></p>`]),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');

const writeRow = ({ title, level, facts }: PageRow): string =>
  `<li class="${escapeHtml(level)}"><b>${escapeHtml(title)}</b><small>${escapeHtml(facts)}</small></li>`;
