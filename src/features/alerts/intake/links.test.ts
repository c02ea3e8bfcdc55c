import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { listLinks, toLink, toLinks } from './links.ts';

test('a link is the first http or https URL, without user and password', () => {
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
  test(`${link} is not changed`, () => assert.equal(toLink(link), link));
}

for (const name of [
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
  'password',
  'passwd',
  'pwd',
  'db_password',
  'secret',
  'clientSecret',
  'client_secret',
  'signature',
  'X-Amz-Signature',
  'sig',
  'auth',
  'authorization',
  'code',
  'oauth_code',
  'to%6ben',
  'jsessionid',
  'X-Amz-Credential',
  'jwt',
]) {
  test(`the parameter ${name} is removed from query and fragment`, () => {
    assert.equal(toLink(`https://a.example/x?a=1&${name}=s3cret&b=2#top`), 'https://a.example/x?a=1&b=2#top');
    assert.equal(toLink(`https://a.example/x?a=1#${name}=s3cret&b=2`), 'https://a.example/x?a=1');
    assert.equal(toLink(`https://a.example/x#/page?${name}=s3cret`), 'https://a.example/x');
    const inner = encodeURIComponent(`https://b.example/?${name}=s3cret`);
    assert.equal(toLink(`https://a.example/?next=${inner}&b=2`), 'https://a.example/?b=2');
  });
}

test('a long link loses its query, and a long path is no link', () => {
  assert.equal(toLink(`https://a.example/x?q=${'x'.repeat(3000)}`), 'https://a.example/x');
  assert.equal(toLink(`https://a.example/${'x'.repeat(3000)}`), undefined);
});

test('links have the names of their purposes; values that are not URLs are dropped', () => {
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

test('a converted link contains no secret, and a second conversion changes nothing', () => {
  fc.assert(
    fc.property(fc.webUrl(), fc.string(), fc.string(), (url, query, fragment) => {
      const link = toLink(`${url}?q=${query}&token=s3cret#${fragment}`) ?? '';
      assert.doesNotMatch(link.split('#')[0] ?? '', /[?&]token=s3cret/);
      assert.equal(toLink(link) ?? '', link);
    }),
  );
});
