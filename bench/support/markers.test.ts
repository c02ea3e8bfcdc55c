import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/app.ts';
import { insertBetweenMarkers, writeBetweenMarkers } from './markers.ts';

const document = '# Title\n\n<!-- figures: begin -->\nold\n<!-- figures: end -->\n\nMore.\n';

test('a text takes the place of what stood between the markers, again and again', () => {
  const expected = '# Title\n\n<!-- figures: begin -->\n\nnew\n\n<!-- figures: end -->\n\nMore.\n';
  assert.equal(insertBetweenMarkers(document, 'new\n'), expected);
  assert.equal(insertBetweenMarkers(expected, 'new\n'), expected);
});

test('a document without both markers in order becomes the text', () => {
  assert.equal(insertBetweenMarkers('# Title\n', 'new\n'), 'new\n');
  assert.equal(insertBetweenMarkers('<!-- figures: end -->\n<!-- figures: begin -->\n', 'new\n'), 'new\n');
});

test('a file is made where there is none', (t) => {
  const path = join(createFolder(t), 'table.md');
  writeBetweenMarkers(path, 'new\n');
  assert.equal(readFileSync(path, 'utf8'), 'new\n');
  writeFileSync(path, document);
  writeBetweenMarkers(path, 'new\n');
  assert.equal(readFileSync(path, 'utf8'), insertBetweenMarkers(document, 'new\n'));
});
