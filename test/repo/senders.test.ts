import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formats } from '../../src/profiles/alerts/intake/formats.ts';
import { samples } from '../support/alert-samples.ts';
import { readRecords } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { readText, toBlocks } from './support/documents.ts';

/** Pages that are not called like their format. */
const pages: Record<string, string> = { otlp: 'opentelemetry' };

for (const { name } of formats) {
  const page = `docs/senders/${pages[name] ?? name}.md`;
  test(`${page} has the path of ${name}, and shows an alert as it is stored`, async (t) => {
    const text = readText(page);
    const path = `/api/alert/${name}`;
    assert.ok(text.includes(name === 'prometheus' ? '/api/v2/alerts' : path));
    const example = JSON.parse(toBlocks(text, 'json').at(-1) ?? '');
    const app = await startApp(t);
    await app.request('POST', path, { body: samples[name as keyof typeof samples] });
    const [stored = {}] = await readRecords(app);
    const shown = Object.keys(example).map((key) => [key, stored[key]]);
    assert.deepEqual(example, Object.fromEntries(shown));
  });
}
