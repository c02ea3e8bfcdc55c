import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { passwords } from '../../support/credentials.ts';
import { waitUntil } from '../../support/wait.ts';

/** Collects warnings and errors in the browser's console, and uncaught errors. */
export const collectComplaints = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(`${message.text()} ${message.location().url}`);
  });
  return complaints;
};

/** Fills in the open login dialog. */
export const fillLogin = async (page: Page, name: 'admin' | 'reader', password?: string): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Log in' });
  await dialog.getByLabel('User name').fill(name);
  await dialog.getByLabel('Password').fill(password ?? passwords[name]);
  await dialog.getByRole('button', { name: 'Log in' }).click();
};

export const logIn = async (page: Page, name: 'admin' | 'reader'): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, name);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

/** Waits until loading has finished. */
export const waitUntilLoaded = (page: Page): Promise<void> =>
  page.locator('[aria-busy]').first().waitFor({ state: 'detached' });

/** Waits until the last action has been drawn and its effects have run. */
export const nextFrame = async (page: Page): Promise<void> => {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
};

interface View {
  width: number;
  colorScheme: 'light' | 'dark';
}

const widths = [360, 768, 1440];

/** Views in light and dark at three widths. */
export const allViews: View[] = widths.flatMap((width) => [
  { width, colorScheme: 'light' },
  { width, colorScheme: 'dark' },
]);

/** One view per colour scheme, for states of screens that are checked in all views elsewhere. */
export const oneOfEach: View[] = [
  { width: 360, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
];

/** Minified source of axe, because browsers parse it faster. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Runs axe without preloading, because no rule needs the style sheets and media. */
const runAxe = `axe.run({ resultTypes: ['violations'], preload: false })`;

/**
 * Returns the violations that axe finds in the views, including best practices, and the widths at which the page
 * overflows. Without views, only the widths.
 */
export const findFaults = async (page: Page, views = oneOfEach): Promise<string[]> => {
  const faults: string[] = [];
  // Comes first, because axe would check the colours of unfinished transitions.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const needsAxe = views.length > 0 && !(await page.evaluate<boolean>("'axe' in globalThis"));
  if (needsAxe) await page.evaluate(axeSource);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const { colorScheme } of views.filter((view) => view.width === width)) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<AxeResults>(runAxe);
      for (const { id, nodes } of violations) {
        for (const { html, failureSummary } of nodes) {
          faults.push(`${width} ${colorScheme} ${id}: ${html.slice(0, 300)} ${failureSummary}`);
        }
      }
    }
    // Charts and long lists measure themselves, and are redrawn a moment after the window has changed.
    const measure = () => page.evaluate<number>('document.documentElement.scrollWidth');
    await waitUntil('the chart is drawn again', async () => (await measure()) === width, 2000).catch(() => undefined);
    const actual = await measure();
    if (actual !== width) faults.push(`the page is ${actual} wide in a window of ${width}`);
  }
  return faults;
};
