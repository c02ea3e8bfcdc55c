import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toDestinationDefinition } from '../../../src/features/notifications/destinations/definition.ts';
import { openTransport } from '../../../src/features/notifications/destinations/transport.ts';
import { createIncidentMessage, type IncidentUpdate } from '../../../src/features/notifications/message/message.ts';
import { readText } from '../../repo/support/documents.ts';
import { writeConfig } from '../../support/config-file.ts';
import { createFolder } from '../../support/folder.ts';
import { createResolution, createUpdate } from '../../support/incident-messages.ts';
import { startProgram } from '../../support/program.ts';
import { waitUntil } from '../../support/wait.ts';
import { findMissing, findPort, startPeer } from './peer.ts';

const skip = findMissing('prometheus', 'prometheus-alertmanager');

/** Returns the configuration that a guide tells readers to paste, for a server at another address. */
const readPasted = (page: string, url: string): string => {
  const block = /```ya?ml\n(.*?)```/s.exec(readText(page))?.[1] ?? '';
  assert.match(block, /127\.0\.0\.1:8080/, page);
  return block.replaceAll('http://127.0.0.1:8080', url).replaceAll('127.0.0.1:8080', new URL(url).host);
};

const startAlertmanager = async (t: TestContext, config: string): Promise<string> => {
  const folder = createFolder(t);
  const url = `http://127.0.0.1:${await findPort()}`;
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, config);
  const args = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=${new URL(url).host}`];
  await startPeer(t, 'prometheus-alertmanager', [...args, '--cluster.listen-address='], `${url}/-/ready`);
  return url;
};

const rules = `
groups:
  - name: test
    rules:
      - alert: DiskFull
        expr: vector(1)
        labels: { severity: critical, instance: "web-1:9100" }
        annotations: { summary: "the disk of web-1 is full" }
`;

const startPrometheus = async (t: TestContext, config: string): Promise<void> => {
  const folder = createFolder(t);
  const url = `http://127.0.0.1:${await findPort()}`;
  writeFileSync(join(folder, 'rules.yml'), rules);
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: { evaluation_interval: 1s }\nrule_files: [rules.yml]\n${config}`,
  );
  // The first alert is sent before Prometheus knows the receiver.
  const args = [
    '--rules.alert.resend-delay=1s',
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
  ];
  await startPeer(t, 'prometheus', [...args, `--web.listen-address=${new URL(url).host}`], `${url}/-/ready`);
};

/** Starts a receiver that stores the requests sent to ntfy. */
const startNtfyReceiver = async (t: TestContext) => {
  const received: { title: unknown; text: string }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      received.push({ title: request.headers['title'] ?? request.headers['x-title'], text });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
};

const sink = 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n';

interface Found {
  data: { source: string; level: string; message: string; hostname: string; format: string; status: string }[];
}

const getJson = async <T>(url: string): Promise<T> => (await fetch(url)).json() as Promise<T>;

test('a rule that fires in Prometheus passes through Alertmanager into the log, and on to ntfy and a second Alertmanager', {
  skip,
}, async (t) => {
  const cwd = createFolder(t);
  const second = await startAlertmanager(t, sink);
  const ntfy = await startNtfyReceiver(t);
  const destinations = [
    { name: 'second', type: 'alertmanager', url: second },
    { name: 'phone', type: 'ntfy', url: `${ntfy.url}/alerts` },
  ];
  const { url } = await startProgram(t, ['--config', writeConfig(cwd, { destinations })], { cwd });
  const first = await startAlertmanager(t, readPasted('docs/guides/senders/alertmanager.md', url));
  await startPrometheus(
    t,
    `alerting: { alertmanagers: [{ static_configs: [{ targets: ["${new URL(first).host}"] }] }] }\n`,
  );
  let found: Found = { data: [] };
  await waitUntil(
    'search finds the alert',
    async () => {
      found = await getJson<Found>(`${url}/api/alerts/search?q=DISK of web`);
      return found.data.length > 0;
    },
    90_000,
  );
  const [alert] = found.data;
  assert.equal(found.data.length, 1);
  assert.equal(alert?.source, 'alertmanager/DiskFull');
  assert.equal(alert?.level, 'CRITICAL');
  assert.equal(alert?.message, 'the disk of web-1 is full');
  assert.equal(alert?.hostname, 'web-1');
  assert.equal(alert?.format, 'alertmanager');
  assert.equal(alert?.status, 'firing');
  let onward: { labels: Record<string, string>; annotations: Record<string, string> }[] = [];
  await waitUntil('the second Alertmanager has the alert', async () => {
    onward = await getJson<typeof onward>(`${second}/api/v2/alerts`);
    return onward.length > 0;
  });
  assert.equal(onward[0]?.labels['alertname'], 'DiskFull');
  assert.equal(onward[0]?.annotations['summary'], 'the disk of web-1 is full');
  await waitUntil('ntfy has the alert', () => ntfy.received.length > 0);
  assert.match(ntfy.received[0]?.text ?? '', /the disk of web-1 is full/);
});

test('an outage of 1,000 alerts arrives completely through Alertmanager', { skip }, async (t) => {
  const { url } = await startProgram(t, [], { cwd: createFolder(t) });
  const pasted = readPasted('docs/guides/senders/alertmanager.md', url);
  const config = pasted.replace('route:', 'route:\n  group_by: [alertname]\n  group_wait: 5s');
  const alertmanager = await startAlertmanager(t, config);
  const annotations = { summary: 'a host does not answer', description: 'No scrape for five minutes. '.repeat(30) };
  const alerts = Array.from({ length: 1000 }, (_, index) => ({
    labels: { alertname: 'HostDown', severity: 'critical', instance: `web-${index}:9100`, job: 'node' },
    annotations,
  }));
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(`${alertmanager}/api/v2/alerts`, {
    method: 'POST',
    headers,
    body: JSON.stringify(alerts),
  });
  assert.equal(status, 200);
  const readHosts = async () => {
    const { data = [] } = await getJson<Partial<Found>>(`${url}/api/alerts?count=1000`);
    return new Set(data.map(({ hostname }) => hostname));
  };
  await waitUntil('all alerts are stored', async () => (await readHosts()).size === 1000);
});

test('an incident fires in Alertmanager with its unchanged level until it is resolved', { skip }, async (t) => {
  const url = await startAlertmanager(t, sink);
  const destination = toDestinationDefinition({ name: 'second', type: 'alertmanager', url });
  const transport = await openTransport(destination, 1, () => new Date());
  t.after(() => transport.close());
  const parts = { publicUrl: undefined, toAcknowledgeUrl: () => undefined, instance: 'signalbox/0123456789abcdef' };
  const at = Date.now() - 1000;
  const times = { firstAt: at, stateSince: at };
  const tell = async (update: IncidentUpdate) => {
    const { outcome } = await transport.send(createIncidentMessage([{ ...update, happenedAt: at }], parts));
    assert.deepEqual(outcome, { kind: 'delivered' });
    const alerts = await getJson<{ labels: Record<string, string> }[]>(`${url}/api/v2/alerts?active=true`);
    return alerts.map(({ labels }) => labels);
  };
  const labels = { alertname: 'backup', instance: 'db-1', incident: '412' };
  const warning = { ...times, level: 'WARNING', highestLevel: 'WARNING' } as const;
  assert.deepEqual(await tell(createUpdate(warning)), [{ ...labels, severity: 'warning' }]);
  assert.deepEqual(await tell(createUpdate(times, { what: 'raised' })), [{ ...labels, severity: 'critical' }]);
  assert.deepEqual(await tell(createUpdate(times, { what: 'reminder' })), [{ ...labels, severity: 'critical' }]);
  assert.deepEqual(await tell(createResolution({ ...times, level: 'WARNING' })), []);
});

test('Prometheus sends a firing rule without an Alertmanager, and its repeats are stored once', {
  skip,
}, async (t) => {
  const cwd = createFolder(t);
  const { url } = await startProgram(t, [], { cwd });
  await startPrometheus(t, readPasted('docs/guides/senders/prometheus.md', url));
  await waitUntil(
    'search finds the alert',
    async () => {
      const { data } = await getJson<Found>(`${url}/api/alerts/search?source=prometheus/DiskFull`);
      return data.length > 0;
    },
    90_000,
  );
  const { data } = await getJson<Found>(`${url}/api/alerts/search`);
  assert.equal(data.length, 1);
  assert.equal(data[0]?.level, 'CRITICAL');
});
