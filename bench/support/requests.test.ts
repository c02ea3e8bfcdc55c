import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScript, parseWrk } from './requests.ts';

const print = (figures: object): string => `Running 1s test\nfigures ${JSON.stringify(figures)}\n`;
const good = { requests: 2000, duration: 2_000_000, status: 0, failed: 0 };

test('the figures read from wrk are the responses and the responses per second', () => {
  assert.deepEqual(parseWrk(print(good), {}), { count: 2000, perSecond: 1000 });
});

test('a failed request, an unexpected status, no response or no figures are refused', () => {
  for (const changes of [{ failed: 1 }, { status: 1 }, { requests: 0 }]) {
    assert.throws(() => parseWrk(print({ ...good, ...changes }), {}), Error, JSON.stringify(changes));
  }
  assert.throws(() => parseWrk('Segmentation fault', {}), /no figures/);
});

test('a benchmark row of refusals requires every response to be an error', () => {
  assert.equal(parseWrk(print({ ...good, status: 2000 }), { isRefused: true }).count, 2000);
  assert.throws(() => parseWrk(print({ ...good, status: 1999 }), { isRefused: true }), /1999 of 2000/);
});

test('a script quotes what it sends, and varies ids in bodies and numbers in paths', () => {
  const url = 'http://127.0.0.1:1/api';
  const script = createScript({ url, method: 'POST', body: '{"a":"\\n[<id>]"}', headers: { 'x-y': 'z' } });
  assert.ok(script.includes('wrk.body = "{\\"a\\":\\"\\\\n[<id>]\\"}"'), script);
  assert.ok(script.includes('wrk.headers["x-y"] = "z"') && script.includes("gsub('%[<id>%]'"), script);
  const random = createScript({ url: `${url}/[<number>]`, numbers: 9 });
  assert.ok(random.includes(`("/api/[<number>]"):gsub('%[<number>%]', math.random(9))`), random);
});
