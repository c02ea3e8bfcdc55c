import { expect } from '@playwright/test';
import { enrol, report } from '../hosts/support/hosts.ts';
import type { Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { isLong, sendAlert, type TestApp } from './support/app.ts';
import { note, test } from './support/console.ts';
import { allViews, findFaults, logIn, nextFrame, oneOfEach, waitUntilLoaded } from './support/page.ts';
import { startPager } from './support/pager.ts';

const screens = {
  '#/': 'Overview',
  '#/?range=day': 'Overview',
  '#/processes': 'Processes',
  [`#/processes?pin=${process.pid}`]: 'Processes',
  '#/tasks': 'Tasks',
  '#/tasks?view=board': 'Tasks',
  '#/tasks?q=nothing': 'Tasks',
  '#/incidents': 'Incidents',
  '#/incidents/1': 'Incidents',
  '#/alerts': 'Alerts',
  '#/alerts?range=1h&severity=ERROR': 'Alerts',
  '#/watches': 'Watches',
  '#/watches/memory': 'Watches',
  '#/watches?new=1&type=http': 'Watches',
  '#/heartbeats': 'Heartbeats',
  '#/heartbeats/backup': 'Heartbeats',
  '#/heartbeats?new=1': 'Heartbeats',
  '#/hosts': 'Hosts',
  '#/hosts?group=tags': 'Hosts',
  '#/hosts/web-1': 'Hosts',
  '#/availability': 'Availability',
  '#/commands': 'Commands',
  '#/commands/Get-CimInstance': 'Commands',
  '#/audit': 'Audit',
  '#/silences': 'Silences',
  '#/silences/new?source=backup&text=disk%20*': 'Silences',
  '#/notifications': 'Notifications',
  '#/notifications?view=sent': 'Notifications',
  '#/oncall': 'On call',
  '#/items': 'Items',
  '#/simple-tasks': 'Simple tasks',
  '#/connect': 'Connect',
  '#/connect/grafana': 'Connect',
  '#/settings/keys': 'Settings',
  '#/settings/destinations?new=1': 'Settings',
  '#/settings/policies': 'Settings',
  '#/settings/policies?open=ops': 'Settings',
  '#/settings/policies?new=1': 'Settings',
  '#/settings/pages': 'Settings',
  '#/settings/pages?open=shop': 'Settings',
  '#/settings/pages?new=1': 'Settings',
  '#/settings/ways': 'Settings',
  '#/settings/ways?open=phone': 'Settings',
  '#/settings/ways?new=1': 'Settings',
  '#/settings/changes': 'Settings',
  '#/settings/about': 'Settings',
  '#/setup?code=x': 'Create the first account',
  '#/nowhere': 'Screen not found',
};

/** Starts a destination for alerts, and two destinations for incidents that form a rotation. */
const startPagers = async (scope: Scope) => {
  const { destinations } = await startPager(scope);
  const [pager] = destinations;
  const members = ['anna', 'ben'];
  const phones = members.map((name) => ({ ...pager, name, notify: 'incidents' }));
  return {
    destinations: [...destinations, ...phones],
    rotations: [{ name: 'oncall', members, handover: '0 9 * * 1' }],
  };
};

/** Fills the lists of all screens. */
const fillScreens = async (app: TestApp, url: string): Promise<void> => {
  const token = await app.login('admin');
  for (const level of ['CRITICAL', 'ERROR', 'WARNING', 'INFO', 'odd']) await sendAlert(app, { level, source: 'disk' });
  for (const Priority of ['Low', 'Medium', 'High', 'Critical'])
    await app.request('POST', '/api/tasks', { body: { Title: `A task of priority ${Priority}`, Priority } });
  for (const command of ['Get-Process -Name node*', 'Remove-Item /'])
    await app.request('POST', '/api/execute', { token, body: { command } });
  await app.request('POST', '/api/items', { token, body: { name: 'an item' } });
  const watch = { name: 'memory', type: 'memory', limit: 1, critical: 99, message: 'look at its processes' };
  expect((await app.request('POST', '/api/watches', { token, body: watch })).status).toBe(201);
  const backup = { schedule: '0 2 * * *', open: true, description: 'nightly' };
  const { json: heartbeat } = await app.request('PUT', '/api/heartbeats/backup', { token, body: backup });
  for (const signal of ['start', '0', '1'])
    await app.request('POST', `/ping/${heartbeat['uuid']}/${signal}`, { body: { output: 'done' } });
  for (const times of [{ endsAt: '2090-01-01T00:00:00Z' }, { schedule: '0 2 * * 6', minutes: 90 }]) {
    const body = { match: { source: 'd*', level: 'WARNING' }, comment: 'maintenance', ...times };
    expect((await app.request('POST', '/api/silences', { token, body })).status).toBe(201);
  }
  const key = await enrol(app, token, 'web-1');
  await app.request('PATCH', '/api/hosts/web-1', { token, body: { tags: ['web'] } });
  expect((await report(app, key, 'web-1')).status).toBe(200);
  const step = { notify: ['destination:anna'], wait: '5 minutes' };
  const settings = {
    'escalation-policies/ops': { steps: [step, step], repeat: 2 },
    'escalation-routing': { rules: [{ source: 'disk*', policy: 'ops' }], default: null },
    'status-pages/shop': {
      title: 'Shop',
      groups: [
        {
          name: 'Services',
          checks: [
            { name: 'Memory', watch: 'memory' },
            { name: 'Backup', heartbeat: 'backup' },
          ],
        },
      ],
    },
  };
  for (const [path, body] of Object.entries(settings)) {
    const { status, text } = await app.request('PUT', `/api/${path}`, { token, body });
    expect(status, text).toBeLessThan(300);
  }
  for (const name of ['admin', 'reader'] as const) {
    const body = { type: 'webhook', url, delay: '5 minutes' };
    const { status } = await app.request('PUT', '/api/people/me/ways/phone', { token: await app.login(name), body });
    expect(status).toBe(201);
  }
};

for (const role of ['admin', 'reader'] as const)
  test(`every screen of ${role} is free of accessibility faults in light and dark at 360, 768 and 1440 px`, async ({
    scope,
    serveApp,
    openConsole,
  }) => {
    test.slow();
    const pagers = await startPagers(scope);
    const app = await serveApp({ settings: pagers });
    await fillScreens(app, pagers.destinations[0]?.url ?? '');
    const { page, complaints } = await openConsole({ app });
    await page.evaluate(
      `globalThis.violations = []; addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective))`,
    );
    await logIn(page, role);
    const counts = { screens: 0, views: 0, findings: 0 };
    for (const [hash, heading] of Object.entries(screens)) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await expect(page.getByRole('heading', { level: 1, name: heading, exact: true })).toBeVisible();
      await waitUntilLoaded(page);
      // The long form checks every view of each screen. Otherwise, each screen is checked in one of two views.
      const views = isLong ? allViews : oneOfEach.filter((_, index) => index === counts.screens % oneOfEach.length);
      const faults = await findFaults(page, views);
      counts.screens += 1;
      counts.views += views.length;
      counts.findings += faults.length;
      expect(faults, hash).toEqual([]);
    }
    const violations = await page.evaluate<string[]>('globalThis.violations');
    note(
      `${counts.screens} screens in ${counts.views} views: ${counts.findings} axe findings, ` +
        `${violations.length} policy violations, ${complaints.length} console errors and warnings`,
    );
    expect([violations, complaints]).toEqual([[], []]);
  });

test('every chart describes its data in words', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await sendAlert(app, { level: 'ERROR' });
  const { page } = await openConsole({ app });
  await waitUntil('all charts have their words', async () => {
    const charts = page.getByRole('figure');
    const texts = await charts.allTextContents();
    return texts.length >= 6 && texts.every((words) => /: now .*, lowest .*, highest .*\.|–/.test(words));
  });
  for (const name of ['CPU', 'Memory', 'Disk use', 'Network', 'Load', 'Alerts'])
    await expect(page.getByRole('figure', { name, exact: true })).toBeVisible();
  await page.goto('/console/#/alerts');
  const histogram = page.getByRole('listbox', { name: /^24 h: 1 alert/ });
  await histogram.focus();
  await page.keyboard.press('End');
  const words = async () => {
    const id = await histogram.getAttribute('aria-activedescendant');
    return page.locator(`[id="${id}"]`).getAttribute('aria-label');
  };
  // A new bar may have begun in the meantime.
  if (/: 0 alerts$/.test((await words()) ?? '')) await page.keyboard.press('ArrowLeft');
  expect((await words()) ?? '').toMatch(/: 1 alert, 1 error$/);
});

const loadedScreens = [
  '#/',
  '#/processes',
  '#/tasks',
  '#/tasks?view=board',
  '#/alerts',
  '#/silences',
  '#/heartbeats',
  '#/hosts',
  '#/availability',
  '#/notifications',
];

test('no screen shifts its layout while it loads', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp({ settings: await startPagers(scope) });
  const token = await app.login('admin');
  for (let index = 0; index < 20; index += 1) {
    await sendAlert(app, { level: 'ERROR', source: 'disk', message: `message ${index % 7}` });
    await app.request('POST', '/api/tasks', { body: { Title: `task ${index}` } });
  }
  await app.request('POST', '/api/execute', { token, body: { command: 'Get-Process -Name node*' } });
  // The long form loads every screen at each width. Otherwise, each screen is loaded at one of two widths.
  const widths = isLong ? [1440, 768, 360] : [1440, 360];
  for (const [place, width] of widths.entries()) {
    const { page } = await openConsole({ app, viewport: { width, height: 900 }, hash: '#/nowhere' });
    await page.addInitScript(`globalThis.shifts = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries().filter((each) => !each.hadRecentInput)
        .map(({ value }) => value))).observe({ type: 'layout-shift', buffered: true });`);
    await page.route(/\/api\/(?!events)/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      await route.continue().catch(() => undefined);
    });
    const found: string[] = [];
    for (const [index, hash] of loadedScreens.entries()) {
      if (!isLong && index % widths.length !== place) continue;
      // A different query forces a full page load.
      await page.goto(`/console/?${encodeURIComponent(hash)}${hash}`);
      if (hash === '#/') await expect(page.getByText(/^busy: now .* %/)).toBeAttached();
      await waitUntilLoaded(page);
      await nextFrame(page);
      const shift = await page.evaluate<number>('shifts.reduce((sum, each) => sum + each, 0)');
      note(`${width} px, ${hash}: ${shift.toFixed(4)}`);
      if (shift > 0.02) found.push(`${width} ${hash} ${shift}`);
    }
    expect(found).toEqual([]);
  }
});
