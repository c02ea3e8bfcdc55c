import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRefusal } from '../../../../test/support/app.ts';

const base = { name: 'pager', type: 'webhook', url: 'http://127.0.0.1:9/' };

for (const [what, changes, problem] of [
  ['an unknown type', { type: 'teams' }, /^destination "pager": type must be one of webhook, .*, not "teams"$/],
  ['a url that is none', { url: 'pager' }, /^destination "pager": url must begin with http/],
  ['a url of another scheme', { url: 'ftp://host/' }, /^destination "pager": url must begin with http/],
  ['a user in the url', { url: 'http://me:planted@host/' }, /^destination "pager": url must not contain a user name/],
  [
    'a secret file that is missing',
    { secretFile: '/nowhere/file' },
    /^destination "pager": cannot read secretFile .*ENOENT$/,
  ],
  [
    'a secret that is none',
    { secret: 'whsec_planted!' },
    /^destination "pager": the secret must be whsec_, followed by/,
  ],
  [
    'a secret that cannot be sent',
    { type: 'ntfy', secret: 'plan\nted' },
    /^destination "pager": the secret must be printable/,
  ],
  [
    'two kinds of secret',
    { secret: 'x', secretFile: 'y' },
    /^destination "pager": set either secret or secretFile, not both$/,
  ],
  [
    'a secret that is not used',
    { type: 'slack', secret: 'planted' },
    /^destination "pager": type slack has no secret: remove secret or secretFile$/,
  ],
  [
    'no secret where one is needed',
    { type: 'gotify' },
    /^destination "pager": type gotify needs secret or secretFile$/,
  ],
  [
    'too many secrets',
    { type: 'ntfy', secret: ['planted', 'b'] },
    /^destination "pager": type ntfy can have only one secret$/,
  ],
  [
    'a level that nobody knows',
    { levels: ['ERROR', 'WRN1'] },
    /^destination "pager": levels: "WRN1" is not a severity; use CRITICAL, ERROR, WARNING, INFO$/,
  ],
  [
    'two kinds of token',
    { token: 'planted', tokenFile: 'x' },
    /^destination "pager": set either token or tokenFile, not both$/,
  ],
  [
    'a token file that is missing',
    { tokenFile: '/nowhere/file' },
    /^destination "pager": cannot read tokenFile .*ENOENT$/,
  ],
  [
    'a token that cannot be sent',
    { token: 'plan ted' },
    /^destination "pager": the token must be printable ASCII without spaces$/,
  ],
  [
    'a token and a header of it',
    { token: 'planted', headers: { Authorization: 'planted' } },
    /^destination "pager": set either a token or the header authorization, not both$/,
  ],
  [
    'a token beside a secret that is one',
    { type: 'ntfy', secret: 'planted', token: 'planted' },
    /^destination "pager": type ntfy sends its secret as authorization; remove either the secret, or the token or header$/,
  ],
  [
    'a header twice',
    { headers: { 'X-Key': 'planted', 'x-key': 'b' } },
    /^destination "pager": headers contains x-key twice$/,
  ],
  [
    'a header of the connection',
    { headers: { Host: 'planted' } },
    /^destination "pager": headers: host is set by signalbox; remove the header$/,
  ],
  [
    'a header of the body',
    { headers: { 'content-length': '1' } },
    /^destination "pager": headers: content-length is set by/,
  ],
  [
    'a header without a name',
    { headers: { 'a b': '1' } },
    /^destination "pager": headers: "a b" is not a header name$/,
  ],
  [
    'a header of two lines',
    { headers: { 'x-key': 'planted\r\nb: c' } },
    /^destination "pager": the value of the header x-key must be printable ASCII$/,
  ],
  [
    'a header from a variable that is not set',
    { headers: { 'x-key': { variable: 'NO_SUCH_VARIABLE' } } },
    /^destination "pager": the variable NO_SUCH_VARIABLE of the header x-key is not set$/,
  ],
  [
    'a header from a file that is missing',
    { headers: { 'x-key': { file: '/nowhere/file' } } },
    /^destination "pager": cannot read the file of the header x-key, .*ENOENT$/,
  ],
  [
    'a header that is a number',
    { headers: { 'x-key': 5 } },
    /^destinations in \S+ at 0\.headers\.x-key must be a string, \{"variable": "NAME"\} or \{"file": "PATH"\}$/,
  ],
  [
    'a secret that is a number',
    { secret: 5 },
    /destinations in \S+ at 0\.secret must be the secret, or the current and/,
  ],
  ['a promise of no time', { giveUpHours: 0 }, /destinations in \S+ at 0\.giveUpHours must be at least 0\.0001$/],
  ['a promise of months', { giveUpHours: 721 }, /destinations in \S+ at 0\.giveUpHours must be at most 720$/],
  ['something else to notify of', { notify: 'all' }, /destinations in \S+ at 0\.notify must be/],
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

test('two destinations whose names differ only in case fail the startup', async (t) => {
  const refusal = await startRefusal(t, { settings: { destinations: [base, { ...base, name: 'Pager' }] } });
  assert.equal(refusal, 'destination "Pager" is defined twice: rename one destination');
});
