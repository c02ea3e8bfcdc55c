import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { defineConfig } from 'vitepress';
import { home, sidebar } from './contents.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const docs = join(root, 'docs');
const { version, description, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Path under which the site is published, with a leading and trailing slash. */
const base = process.env.SITE_BASE ?? '/';
const address = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** Creates anchors from headings as GitHub does, so that links work in both places. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- ]/gu, '')
    .replaceAll(' ', '-');

/**
 * Converts a relative link in a document for the site: README.md is the index of its folder, and files outside docs/
 * are in the repository. Throws if the file is missing.
 */
const toSiteLink = (link, page) => {
  const [file, anchor] = link.split('#');
  const target = join(dirname(page), file);
  if (!existsSync(target)) throw new Error(`${relative(root, page)} links to ${link}, which does not exist`);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (relative(docs, target).startsWith('..')) return `${address}/blob/main/${relative(root, target)}${hash}`;
  return `${file.replace(/(^|\/)README\.md$/, '$1index.md')}${hash}`;
};

const followLinks = (md) => {
  md.core.ruler.push('links-of-documents', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const link = token.type === 'link_open' ? token.attrGet('href') : null;
      if (link !== null && !/^([a-z]+:|#|\/)/.test(link))
        token.attrSet('href', toSiteLink(link, env.realPath ?? env.path));
    }
  });
};

const titles = { sh: 'curl', powershell: 'PowerShell', ts: 'TypeScript' };

/** Turns adjacent code blocks for the same task in several languages into tabs. */
const groupLanguages = (md) => {
  const block = '```(?:sh|powershell|ts)\\n(?:(?!```).*\\n)*```\\n';
  const group = new RegExp(`^${block}(?:\\n${block})+`, 'gm');
  md.core.ruler.before('normalize', 'tabs-of-languages', (state) => {
    state.src = state.src.replace(group, (blocks) => {
      const named = blocks.replace(
        /^```(sh|powershell|ts)$/gm,
        (_, language) => `\`\`\`${language} [${titles[language]}]`,
      );
      return `::: code-group\n${named}:::\n`;
    });
  });
};

export default defineConfig({
  title: 'signalbox',
  description,
  srcDir: '../../docs',
  outDir: '../../dist/site',
  cacheDir: '../../dist/.site-cache',
  cleanUrls: true,
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  base,
  head: [['link', { rel: 'icon', href: `${base}favicon.svg` }]],
  markdown: {
    anchor: { slugify },
    attrs: { disable: true },
    languageAlias: { caddy: 'nginx', haproxy: 'nginx', logrotate: 'nginx', cron: 'sh' },
    config: (md) => {
      groupLanguages(md);
      followLinks(md);
    },
  },
  vite: { publicDir: join(root, 'console', 'public') },
  transformPageData: (page) =>
    page.relativePath === 'index.md' ? { frontmatter: { ...page.frontmatter, ...home } } : {},
  themeConfig: {
    logo: '/favicon.svg',
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/guides/install', activeMatch: '/guides/' },
      { text: 'Reference', link: '/reference/configuration', activeMatch: '/reference/' },
      { text: 'How it works', link: '/how-it-works/incidents', activeMatch: '/(how-it-works|decisions)/' },
      { text: version, link: `${address}/blob/main/CHANGELOG.md` },
    ],
    sidebar,
    outline: [2, 3],
    editLink: { pattern: `${address}/edit/main/docs/:path`, text: 'Edit this page' },
  },
});
