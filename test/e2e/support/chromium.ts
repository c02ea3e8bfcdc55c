import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Installed browsers. They are preferred, because the packaged Chromium is older. The headless shell takes half the
 * time.
 */
const installed = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Path of `dist/`, both from the sources and from their compiled form in `dist/`. */
const dist = fileURLToPath(new URL('../../..', import.meta.url)).replace(/([\\/]dist)?[\\/]$/, '/dist');

/** Folder of the packaged browser with its libraries and fonts, unpacked once for all tests. */
const unpacked = join(dist, 'browser');

interface LaunchOptions {
  executablePath: string;
  args: string[];
  env?: Record<string, string>;
}

/**
 * Finds the options for a headless Chromium. Undefined if there is none. The packaged browser must be unpacked first.
 */
export const findChromium = (): LaunchOptions | undefined => {
  // Arguments that support root and machines without a graphics card, and disable requests to other hosts.
  const args = [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
    ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ];
  const executablePath = installed.find((path) => existsSync(path));
  if (executablePath !== undefined) return { executablePath, args };
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const env = {
    ...(process.env as Record<string, string>),
    LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'),
    FONTCONFIG_PATH: join(unpacked, 'fonts'),
  };
  return { executablePath: join(unpacked, 'chromium'), args, env };
};

/** Unpacks the packaged browser if it is needed and has not been unpacked yet. */
export const unpackChromium = (): void => {
  const path = findChromium()?.executablePath;
  if (path === undefined || existsSync(path)) return;
  mkdirSync(dirname(unpacked), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-browser-'));
  try {
    // The package unpacks into the temporary folder, and unpacks its libraries only if it detects a cloud.
    const script = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: dirname(dist),
      env: { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the packaged Chromium cannot be unpacked: ${stderr}`);
    writeFileSync(join(folder, 'fonts', 'fonts.conf'), fontSettings);
    // Another test process may have unpacked the browser already.
    if (!existsSync(path)) renameSync(folder, unpacked);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Settings that replace the package's own, because these expect fonts in /tmp. Chromium crashes without any font. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${unpacked}/fonts/fonts</dir>
  <cachedir>${unpacked}/fonts/cache</cachedir>
</fontconfig>
`;
