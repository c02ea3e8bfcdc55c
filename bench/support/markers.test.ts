import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { createMarkedWriter, insertBetweenMarkers } from './markers.ts';

const document = '# Title\n\n<!-- figures: begin -->\nold\n<!-- figures: end -->\n\nMore.\n';
const expected = '# Title\n\n<!-- figures: begin -->\n\nnew\n\n<!-- figures: end -->\n\nMore.\n';

test('the text between the markers is replaced, and can be replaced again', () => {
  assert.equal(insertBetweenMarkers(document, 'new\n'), expected);
  assert.equal(insertBetweenMarkers(expected, 'new\n'), expected);
});

test('a document without both markers in order is refused before anything is measured', (t) => {
  assert.throws(() => insertBetweenMarkers('<!-- figures: end -->\n<!-- figures: begin -->\n', 'new\n'));
  const path = join(createFolder(t), 'letter.md');
  writeFileSync(path, 'Dear all,\n');
  assert.throws(() => createMarkedWriter(path), /the markers .* are missing/);
});

test('a missing file is created with markers, and can be written again', (t) => {
  const path = join(createFolder(t), 'table.md');
  const write = createMarkedWriter(path);
  write('old\n');
  write('new\n');
  assert.equal(readFileSync(path, 'utf8'), '<!-- figures: begin -->\n\nnew\n\n<!-- figures: end -->\n');
});
