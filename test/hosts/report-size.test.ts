import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { HostReport } from '../../src/kit/host-report/report-schema.ts';
import { waitUntil } from '../support/wait.ts';
import { startAgent } from './support/agent.ts';
import { listenPlain } from './support/hosts.ts';

/** Maximum size in bytes of a compressed report. */
const most = 4096;

test(`the reports of an agent have at most ${most} compressed bytes, with and without processes`, {
  timeout: 60_000,
}, async (t) => {
  const sizes: { bytes: number; processes: number | undefined }[] = [];
  const hub = await listenPlain(
    t,
    createServer(async (request, response) => {
      const isReport = request.url === '/api/hosts/self/readings';
      if (isReport) {
        const body = await buffer(request);
        const { processes } = JSON.parse(gunzipSync(body).toString()) as HostReport;
        sizes.push({ bytes: body.length, processes: processes?.length });
      } else await text(request);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ received: isReport, name: 'web-1', time: new Date().toISOString() }));
    }),
  );
  await startAgent(t, ['agent', '--hub', hub], { variables: { SIGNALBOX_HUB_KEY: 'sbk_of_a_test' } });
  await waitUntil(
    'both kinds of reports have arrived',
    () => new Set(sizes.map((each) => each.processes)).size > 1,
    40_000,
  );
  t.diagnostic(JSON.stringify(sizes));
  assert.ok(sizes.some(({ processes = 0 }) => processes > 0));
  for (const { bytes } of sizes) assert.ok(bytes <= most, `${bytes} bytes`);
});
