import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/server/package-info.ts';
import { readText } from './support/documents.ts';

const folder = '.github/workflows';

test('workflows pin each action to one commit, with its version', () => {
  const lines = readdirSync(join(packageRoot, folder)).flatMap((name) => readText(`${folder}/${name}`).split('\n'));
  const actions = lines.flatMap((line) => /^\s*(?:- )?uses:\s*(.*)$/.exec(line)?.[1] ?? []);
  assert.ok(actions.length > 0);
  for (const action of actions) assert.match(action, /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const names = [...new Set(actions)].map((action) => action.replace(/@.*/, ''));
  assert.deepEqual(names, [...new Set(names)]);
});

test('the container is built from images pinned by digest', () => {
  const text = readText('deploy/container/Containerfile');
  const images = Object.fromEntries(
    [...text.matchAll(/^ARG (\w+_IMAGE)=(.*)$/gm)].map(([, name = '', image = '']) => [name, image]),
  );
  for (const image of Object.values(images)) assert.match(image, /^docker\.io\/library\/[\w:.-]+@sha256:[0-9a-f]{64}$/);
  const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  assert.deepEqual(
    bases,
    Object.keys(images).map((name) => `\${${name}}`),
  );
  assert.doesNotMatch(readText('deploy/container/compose.yaml'), /image: (?!signalbox$)/m);
});
