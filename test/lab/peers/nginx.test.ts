import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { openBrowser, toSkip } from '../../e2e/browser.ts';
import { sendAlert } from '../../support/alerts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { requires } from '../faults/support/requirements.ts';
import { findPort, startPeer } from './peer.ts';

const browser = await openBrowser();
const skip = toSkip(browser) || requires({ programs: ['nginx'] }).skip;
after(() => browser?.close());

/** Starts nginx in front of the app, with these directives for its proxy. Resolves to its address. */
const startNginx = async (t: TestContext, app: TestApp, directives: string): Promise<string> => {
  const url = `http://127.0.0.1:${await findPort()}`;
  const folder = join(app.folder, 'nginx');
  mkdirSync(folder);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const settings = `daemon off;
    master_process off;
    pid ${folder}/pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporary.join('\n')}
      server {
        listen ${url.slice('http://'.length)};
        location / {
          proxy_pass ${app.url};
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          ${directives}
        }
      }
    }`;
  writeFileSync(join(folder, 'nginx.conf'), settings);
  await startPeer(t, 'nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], `${url}/health`);
  return url;
};

for (const [name, directives] of [
  ['with its defaults', ''],
  ['that does not know X-Accel-Buffering', 'proxy_ignore_headers X-Accel-Buffering;'],
] as const) {
  test(`behind nginx ${name} the console gets live updates`, { skip }, async (t) => {
    const app = await startApp(t);
    const url = await startNginx(t, app, directives);
    const page = await browser?.newPage({ locale: 'en-GB' });
    assert.ok(page);
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${url}/console/#/alerts`);
    await page.getByText('Live', { exact: true }).waitFor();
    const sent = performance.now();
    await sendAlert(app, { message: 'through nginx' });
    await page.getByRole('link', { name: 'through nginx' }).waitFor();
    t.diagnostic(`an alert is shown after ${(performance.now() - sent).toFixed(0)} ms`);
    assert.deepEqual(complaints, []);
  });
}
