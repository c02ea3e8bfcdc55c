import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRefusal } from '../../../../../test/support/app.ts';

const base = { name: 'pager', type: 'webhook', url: 'http://127.0.0.1:9/' };

for (const [what, changes, problem] of [
  ['an unknown type', { type: 'teams' }, /^destination "pager": type must be one of webhook, .*, not "teams"$/],
  ['a url that is none', { url: 'pager' }, /^destination "pager": url must begin with http/],
  ['a url of another scheme', { url: 'ftp://host/' }, /^destination "pager": url must begin with http/],
  ['a user in the url', { url: 'http://me:planted@host/' }, /^destination "pager": url must not hold a user name/],
  [
    'a secret file that is missing',
    { secretFile: '/nowhere/file' },
    /^destination "pager": cannot read secretFile .*ENOENT$/,
  ],
  ['a secret that is none', { secret: 'whsec_planted!' }, /^destination "pager": the secret must be whsec_ and/],
  [
    'a secret that cannot be sent',
    { type: 'ntfy', secret: 'plan\nted' },
    /^destination "pager": the secret must be printable/,
  ],
  [
    'two kinds of secret',
    { secret: 'x', secretFile: 'y' },
    /^destination "pager": give secret or secretFile, not both$/,
  ],
  [
    'a secret that is not used',
    { type: 'slack', secret: 'planted' },
    /^destination "pager": type slack takes no secret$/,
  ],
  [
    'no secret where one is needed',
    { type: 'gotify' },
    /^destination "pager": type gotify needs secret or secretFile$/,
  ],
  ['too many secrets', { type: 'ntfy', secret: ['planted', 'b'] }, /^destination "pager": type ntfy takes one secret$/],
  ['a name with a slash', { name: 'a/b' }, /destinations in \S+ at 0\.name must be up to 64 letters/],
  ['an unknown key', { filter: {} }, /destinations in \S+ at 0 has unknown keys; remove filter$/],
  ['a wait below 0', { retrySeconds: [-1] }, /destinations in \S+ at 0\.retrySeconds\.0 must be at least 0$/],
] as const) {
  test(`a destination with ${what} fails the startup with one line that names it`, async (t) => {
    const refusal = await startRefusal(t, { settings: { destinations: [{ ...base, ...changes }] } });
    assert.match(refusal, problem);
    assert.doesNotMatch(refusal, /\n|planted/);
  });
}

test('two destinations of one name, in whatever case, fail the startup', async (t) => {
  const refusal = await startRefusal(t, { settings: { destinations: [base, { ...base, name: 'Pager' }] } });
  assert.equal(refusal, 'destination "Pager" is there twice: give each another name');
});
