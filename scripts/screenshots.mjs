import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { prepare, root } from './prepare.mjs';
import { addAlert, addTasks, createRequest, runCommands } from './sample-data.mjs';
import { readUrl } from './started-program.mjs';

/**
 * Writes docs/screenshots/ from a server of its own. Its charts show what has really happened, so it runs for some time:
 * `npm run screenshots -- --minutes 1` is a quick look.
 */
const [, minutes = '11'] = /--minutes (\d+)/.exec(process.argv.join(' ')) ?? [];
const folder = join(root, 'docs', 'screenshots');
const mostBytes = 150_000;
const password = 'only for screenshots';

const shots = [
  { name: 'overview', hash: '#/' },
  { name: 'overview-dark', hash: '#/', colorScheme: 'dark' },
  { name: 'tasks', hash: '#/tasks?view=board' },
  { name: 'alerts', hash: '#/alerts?range=1h', colorScheme: 'dark' },
  { name: 'commands', hash: '#/commands/Get-Process', run: true },
];

/** On Linux this script runs in namespaces of its own, so that the pictures do not show the machine's name and processes. */
const runInNamespaces = () => {
  const args = ['--uts', '--pid', '--fork', '--mount-proc', '--kill-child', 'sh', '-c'];
  const command = 'hostname signalbox && exec "$0" "$@"';
  const own = [process.execPath, ...process.argv.slice(1), '--inside'];
  for (const more of [[], ['--map-root-user']]) {
    if (spawnSync('unshare', [...more, ...args, 'hostname signalbox']).status === 0)
      return spawnSync('unshare', [...more, ...args, command, ...own], { stdio: 'inherit' }).status ?? 1;
  }
  process.stderr.write("The pictures show this machine's name and processes: unshare does not work here.\n");
  return undefined;
};

/** A destination that answers with the status. */
const startReceiver = async (name, status) => {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(status).end()),
  );
  server.unref();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { name, type: 'webhook', url: `http://127.0.0.1:${server.address().port}/` };
};

const startServer = async (data) => {
  const destinations = [await startReceiver('chat', 204), await startReceiver('pager', 503)];
  const config = { port: 0, dataDir: join(data, 'data'), adminPassword: password, destinations };
  writeFileSync(join(data, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const args = [join(root, 'dist', 'signalbox.js'), '--config', join(data, 'config.json')];
  const server = spawn(process.execPath, args, { cwd: data });
  server.on('exit', (code, signal) => process.stderr.write(`The server has ended: ${signal ?? code}\n`));
  return { server, url: await readUrl(server) };
};

/** Lets things happen: an alert every few seconds, more at times, and some work for the processors. */
const live = async (request) => {
  const steps = Math.round((Number(minutes) * 60) / 4);
  for (let step = 0; step < steps; step += 1) {
    const wave = Math.max(0, 1 + Math.sin(step / 9) + Math.sin(step / 23));
    for (let count = 0; count < wave; count += 1) await addAlert(request, step * 3 + count);
    for (const until = performance.now() + 150 * wave; performance.now() < until; );
    await setTimeout(4000 - 150 * wave);
  }
};

const logIn = async (page) => {
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

const shoot = async (browser, url, { name, hash, colorScheme = 'light', run = false }) => {
  const viewport = { width: 1440, height: 900 };
  const page = await browser.newPage({ viewport, colorScheme, locale: 'en-GB', reducedMotion: 'reduce' });
  await page.goto(`${url}/console/${hash}`);
  await logIn(page);
  if (run) {
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('table', { name: 'Result' }).waitFor();
  }
  await page.mouse.move(0, 0);
  // Charts, events and the second reading of the processes.
  await page.getByText('Live', { exact: true }).waitFor();
  await setTimeout(5000);
  const picture = await page.screenshot();
  await page.close();
  if (picture.length > mostBytes) throw new Error(`${name} has ${picture.length} bytes, more than ${mostBytes}`);
  writeFileSync(join(folder, `${name}.png`), picture);
  process.stdout.write(`docs/screenshots/${name}.png: ${Math.round(picture.length / 1000)} kB\n`);
};

const takeAll = async () => {
  const { openBrowser } = await import('../dist/test/e2e/browser.js');
  const data = mkdtempSync(join(tmpdir(), 'signalbox-screenshots-'));
  const { server, url } = await startServer(data);
  let browser;
  try {
    const { request, logIn: authenticate } = createRequest(url);
    await authenticate('admin', password);
    await addTasks(request);
    await runCommands(request);
    await live(request);
    mkdirSync(folder, { recursive: true });
    browser = await openBrowser();
    for (const shot of shots) await shoot(browser, url, shot);
  } finally {
    await browser?.close();
    server.kill();
    rmSync(data, { recursive: true, force: true });
  }
};

const isInside = process.argv.includes('--inside');
if (!isInside) await prepare();
const status = isInside || process.platform !== 'linux' ? undefined : runInNamespaces();
if (status === undefined) await takeAll();
else process.exitCode = status;
