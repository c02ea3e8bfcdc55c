import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { clean, cleanLines } from './clean-text.ts';
import { findFirstSeverity, toHostname, toLabels } from './fields.ts';
import { listLinks, toLink, toLinks } from './links.ts';
import { toRfc3339 } from './times.ts';

for (const [level, names] of Object.entries({
  CRITICAL: ['critical', 'crit', 'page', 'Emergency', 'emerg', 'FATAL', 'p1'],
  ERROR: ['error', 'err', 'major', 'high', 'P2'],
  WARNING: ['warn', 'warning', 'minor', 'p3'],
  INFO: ['info', 'notice', 'debug', 'none', 'low', ' Info '],
})) {
  test(`${names.join(', ')} are ${level}`, () => {
    for (const name of names) assert.equal(findFirstSeverity(name), level, name);
  });
}

test('the first known level counts', () => {
  assert.equal(findFirstSeverity(undefined, 7, 'purple', 'high', 'low'), 'ERROR');
  assert.equal(findFirstSeverity('purple'), undefined);
});

for (const [text, host] of [
  ['web-1', 'web-1'],
  ['web-1:9100', 'web-1'],
  ['[2001:db8::7]:9100', '2001:db8::7'],
  ['[::1]', '::1'],
  ['::1', '::1'],
  ['192.0.2.7:80', '192.0.2.7'],
  ['https://user:pass@shop.example:8443/a?b', 'shop.example'],
  ['http://[::1]:9090/', '::1'],
  ['https://', 'unknown'],
  [':9090', 'unknown'],
  ['', 'unknown'],
] as const) {
  test(`the host in "${text}" is ${host}`, () => assert.equal(toHostname(text), host));
}

test('the first host counts', () => {
  assert.equal(toHostname(undefined, '', 7, 'a:1', 'b'), 'a');
});

test('times become UTC; the year 1 and other texts are none', () => {
  assert.equal(toRfc3339('2026-01-31T09:30:00+01:00'), '2026-01-31T08:30:00.000Z');
  assert.equal(toRfc3339('2026-01-31T09:30:00.000+0000'), '2026-01-31T09:30:00.000Z');
  assert.equal(toRfc3339('2026-01-31 09:30:00.5'), '2026-01-31T09:30:00.500Z');
  assert.equal(toRfc3339('2028-02-29T09:30:00Z'), '2028-02-29T09:30:00.000Z');
  assert.equal(toRfc3339('2026-02-29T09:30:00Z'), undefined);
  for (const text of ['0001-01-01T00:00:00Z', '2026-02-31T25:00:00Z', 'now', '', 7, undefined]) {
    assert.equal(toRfc3339(text), undefined, String(text));
  }
});

test('control characters are removed, and white space becomes one space', () => {
  assert.equal(clean('a\0b\u001b[31mc\u007f\u0090', 99), 'ab[31mc');
  assert.equal(clean(' a\r\n\tb\u2028c ', 99), 'a b c');
  assert.equal(clean('a\ud800b', 99), 'a\ufffdb');
});

test('a text that is cut ends in an ellipsis, and in no half character', () => {
  assert.equal(clean('x'.repeat(16), 16), 'x'.repeat(16));
  assert.equal(clean('x'.repeat(17), 16), `${'x'.repeat(15)}…`);
  assert.equal(clean(`${'x'.repeat(14)}🔴🔴`, 16), `${'x'.repeat(14)}…`);
  assert.equal(clean(`a${'\0'.repeat(100)}b`, 16), 'a…');
});

test('any text is cleaned to one that stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 100 }), (text, limit) => {
      const cleaned = clean(text, limit);
      assert.ok(cleaned.length <= limit);
      assert.doesNotMatch(cleaned, /\p{Cc}|\p{Cs}/u);
      assert.equal(clean(cleaned, limit), cleaned);
    }),
  );
});

test('labels are texts, and are bounded in number and length', () => {
  assert.deepEqual(toLabels({ a: 'x', b: 1, c: true, d: null, e: {}, f: [1] }), { a: 'x', b: '1', c: 'true' });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n${index}`, 'x'.repeat(5000)]));
  const labels = Object.entries(toLabels(many));
  assert.ok(labels.length < 64);
  for (const [, value] of labels) assert.equal(value.length, 1024);
});

test('details keep their lines, and are cut at the limit', () => {
  assert.equal(cleanLines('a\r\n  b\u001b[1m\n\nc', 99), 'a\nb[1m\n\nc');
  assert.equal(cleanLines(`${'x'.repeat(10)}\n${'y'.repeat(10)}`, 16), `${'x'.repeat(10)}\n${'y'.repeat(4)}…`);
});

test('a link is http or https, without user and password', () => {
  assert.equal(toLink('https://u:p@a.example/x'), 'https://a.example/x');
  assert.equal(toLink('', 'javascript:alert(1)', 'ftp://a', 'relative', 7, 'http://b.example'), 'http://b.example/');
});

for (const link of [
  'http://vm:9090/graph?g0.expr=up%3D%3D0&g0.tab=1',
  'http://vm:9090/graph?g0.expr=rate(http_requests_total%7Bcode%3D~%225..%22%7D%5B5m%5D)+%3E+1',
  'https://grafana.example/alerting/silence/new?alertmanager=grafana&matcher=alertname%3DDisk&matcher=key%3Dx&orgId=1',
  'https://grafana.example/d/abc/node?orgId=1&viewPanel=7&from=now-1h&var-host=web-1#top',
  'https://a.example/?keyword=disk&monkey=1&author=x&design=2&tokenizer=y&passenger=z&encoding=utf8&authors',
  'https://a.example/?keyboard&q=a=b&&x=',
  'https://a.example/#/alerts?id=7',
]) {
  test(`${link} stays as it is`, () => assert.equal(toLink(link), link));
}

for (const name of [
  ...[
    'token',
    'access_token',
    'accesstoken',
    'authToken',
    'X-Auth-Token',
    'key',
    'apikey',
    'api_key',
    'API-Key',
    'apiKey',
  ],
  ...[
    'password',
    'passwd',
    'pwd',
    'db_password',
    'secret',
    'clientSecret',
    'client_secret',
    'signature',
    'X-Amz-Signature',
  ],
  ...['sig', 'auth', 'authorization', 'code', 'oauth_code', 'to%6ben', 'jsessionid', 'X-Amz-Credential', 'jwt'],
]) {
  test(`the parameter ${name} is removed from query and fragment`, () => {
    assert.equal(toLink(`https://a.example/x?a=1&${name}=s3cret&b=2#top`), 'https://a.example/x?a=1&b=2#top');
    assert.equal(toLink(`https://a.example/x?a=1#${name}=s3cret&b=2`), 'https://a.example/x?a=1');
    assert.equal(toLink(`https://a.example/x#/page?${name}=s3cret`), 'https://a.example/x');
    const inner = encodeURIComponent(`https://b.example/?${name}=s3cret`);
    assert.equal(toLink(`https://a.example/?next=${inner}&b=2`), 'https://a.example/?b=2');
  });
}

test('a link that is too long loses its query, then it is none', () => {
  assert.equal(toLink(`https://a.example/x?q=${'x'.repeat(3000)}`), 'https://a.example/x');
  assert.equal(toLink(`https://a.example/${'x'.repeat(3000)}`), undefined);
});

test('links are named by what they lead to; those that are no URLs are left out', () => {
  const annotations = {
    runbook_url: 'https://wiki.example/disk',
    dashboard: 'the first one',
    panelURL: 'https://g.example/p',
  };
  assert.deepEqual(toLinks(listLinks(annotations)), {
    runbook: 'https://wiki.example/disk',
    panel: 'https://g.example/p',
  });
  assert.equal(toLinks(listLinks({})), undefined);
});

test('a link of any text is stable, and shows no secret', () => {
  fc.assert(
    fc.property(fc.webUrl(), fc.string(), fc.string(), (url, query, fragment) => {
      const link = toLink(`${url}?q=${query}&token=s3cret#${fragment}`) ?? '';
      assert.doesNotMatch(link.split('#')[0] ?? '', /[?&]token=s3cret/);
      assert.equal(toLink(link) ?? '', link);
    }),
  );
});
