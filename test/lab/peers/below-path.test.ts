import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { openBrowser, toSkip } from '../../e2e/browser.ts';
import { findSection, readText, toBlocks } from '../../repo/support/documents.ts';
import { createFolder } from '../../support/folder.ts';
import { type Running, runCommand, startProgram } from '../../support/program.ts';
import { startReceiver } from '../../support/receiver.ts';
import { waitUntil } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';
import { findPort, startPeer } from './peer.ts';

const browser = await openBrowser();
after(() => browser?.close());

const section = findSection(readText('docs/guides/proxy.md'), 'Below a path');
const findLines = (language: string): string => toBlocks(section, language)[0] ?? assert.fail(language);

/**
 * Writes the configuration of a proxy at an address, for a server at another address. Returns the proxy's command line.
 */
type Configure = (folder: string, upstream: string, address: string) => [string, string[]];

const nginx: Configure = (folder, upstream, address) => {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
    http {
      access_log off; ${temporary.join(' ')}
      upstream signalbox { server ${upstream}; }
      server { listen ${address}; ${findLines('nginx')} }
    }`,
  );
  return ['nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')]];
};

const haproxy: Configure = (folder, upstream, address) => {
  const timeouts = 'timeout connect 5s\n  timeout client 60s\n  timeout server 60s';
  const [, condition = ''] = /`(use_backend .*?)`/.exec(section) ?? [];
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `defaults\n  mode http\n  ${timeouts}
frontend box\n  bind ${address}\n  ${condition}
backend signalbox\n${findLines('haproxy')}  server signalbox ${upstream}\n`,
  );
  return ['haproxy', ['-f', join(folder, 'haproxy.cfg')]];
};

const apache: Configure = (folder, upstream, address) => {
  const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map(
    (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
  );
  const own = [`Listen ${address}`, `PidFile ${folder}/pid`, `DefaultRuntimeDir ${folder}`, 'ServerName box'];
  const proxied = `ProxyPreserveHost On\n${findLines('apache').replace('127.0.0.1:8080', upstream)}`;
  const account = `User daemon\nGroup daemon\nErrorLog ${folder}/error.log`;
  writeFileSync(join(folder, 'apache.conf'), `${modules.join('\n')}\n${own.join('\n')}\n${account}\n${proxied}`);
  return ['apache2', ['-D', 'FOREGROUND', '-f', join(folder, 'apache.conf')]];
};

/** Starts a server that people reach under a path of the proxy, with a receiver of notifications. */
const startBehind = async (t: TestContext, configure: Configure) => {
  const folder = createFolder(t);
  const proxyFolder = join(folder, 'proxy');
  mkdirSync(proxyFolder);
  const phone = await startReceiver(t);
  const address = `127.0.0.1:${await findPort()}`;
  const url = `http://${address}/desk`;
  const file = join(folder, 'signalbox.json');
  const [block = ''] = toBlocks(section, 'json');
  const settings = JSON.parse(block.replace('https://box.example.org/desk', url));
  const destination = { name: 'phone', type: 'ntfy', url: `${phone.url}/topic`, notify: 'incidents', groupSeconds: 0 };
  const config = { ...settings, defaultWatches: false, destinations: [destination] };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const server: Running = await startProgram(t, ['--config', file]);
  const [program, args] = configure(proxyFolder, server.url.replace('http://', ''), address);
  await startPeer(t, program, args, `${url}/health`);
  return { url, server, phone };
};

const isOf = (url: string, path: string): void => assert.equal(new URL(url).pathname, `/desk${path}`);

for (const [name, configure] of [
  ['nginx', nginx],
  ['haproxy', haproxy],
  ['apache2', apache],
] as const) {
  const { skip } = requires({ programs: [name] });
  test(`below a path of ${name}, pages, redirects, links of notifications and commands work`, { skip }, async (t) => {
    const { url, server, phone } = await startBehind(t, configure);
    isOf((await fetch(`${url}/`)).url, '/console/');
    isOf((await fetch(`${url}/docs`)).url, '/docs/');
    const page = await (await fetch(`${url}/console/`)).text();
    const [, script = ''] = /src="\.\/(index-[^"]+)"/.exec(page) ?? [];
    assert.equal((await fetch(`${url}/console/${script}`)).status, 200);
    const { servers } = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] };
    assert.deepEqual(
      servers.map((each) => each.url),
      ['/desk/'],
    );
    assert.match(server.output.stdout, new RegExp(`: ${url}/console/#/setup\\?code=`));

    const sent = await runCommand(['send', '--level', 'ERROR', 'below a path'], { variables: { SIGNALBOX_URL: url } });
    assert.equal(sent.code, 0, sent.stderr);
    await waitUntil('the receiver has the incident', () => phone.requests.length > 0);
    const { headers } = phone.requests[0] ?? assert.fail();
    assert.equal(headers['click'], `${url}/console/#/incidents/1`);
    const [acknowledge] = JSON.parse(String(headers['actions']));
    assert.ok(acknowledge.url.startsWith(`${url}/api/acknowledge/`), acknowledge.url);
    const tapped = await fetch(acknowledge.url, { method: acknowledge.method, headers: acknowledge.headers });
    assert.equal(tapped.status, 200);
  });
}

const skip = toSkip(browser) || requires({ programs: ['nginx'] }).skip;
test('below a path of nginx the console gets live updates', { skip }, async (t) => {
  const { url } = await startBehind(t, nginx);
  const page = (await browser?.newPage({ locale: 'en-GB' })) ?? assert.fail();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${url}/#/alerts`);
  await page.getByText('Live', { exact: true }).waitFor();
  await fetch(`${url}/api/alert`, { method: 'POST', body: JSON.stringify({ message: 'through nginx' }) });
  await page.getByRole('link', { name: 'through nginx' }).waitFor();
  assert.deepEqual(complaints, []);
});
