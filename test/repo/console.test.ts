import assert from 'node:assert/strict';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';
import { listFiles, readText } from './support/documents.ts';

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

/** Folders of the console that contain no screen. */
const shared = ['calls', 'live', 'shell', 'strings', 'style', 'ui'];

const files = listFiles('console').filter((path) => /\.tsx?$/.test(path));

/** Imports of the console's files, as paths from the repository's root: dependency-cruiser cannot read TSX. */
const imports: Import[] = files.flatMap((from) =>
  [...readText(from).matchAll(/^(?:import|export)( type)?\b[^;']*'(\.[^']+)';$/gm)].map(([, type, to = '']) => ({
    from,
    to: join(dirname(from), to),
    isTypeOnly: type !== undefined,
  })),
);

const folderOf = (path: string): string => path.split('/').slice(1, -1)[0] ?? '';

test('the console imports only types, the client and files without imports from the server', () => {
  assert.ok(imports.length > 50);
  const ofServer = imports.filter(({ to }) => to.startsWith('src/') && !to.startsWith('src/client/'));
  const wrong = ofServer.filter(({ to, isTypeOnly }) => !isTypeOnly && /^import\b/m.test(readText(to)));
  assert.deepEqual(wrong, []);
});

test('screens of the console do not import each other, and shared parts import no screen', () => {
  const isScreen = (folder: string) => folder !== '' && !shared.includes(folder);
  const wrong = imports.filter(({ from, to }) => {
    const [own, other] = [folderOf(from), folderOf(to)];
    return (
      to.startsWith('console/') &&
      isScreen(other) &&
      own !== other &&
      !['console/screens.ts', 'console/later.ts'].includes(from)
    );
  });
  assert.deepEqual(wrong, []);
});

test('shared parts of the console import neither the shell nor the list of screens', () => {
  const wrong = imports.filter(
    ({ from, to }) => ['calls', 'live', 'ui'].includes(folderOf(from)) && /^console\/(shell\/|screens\.ts)/.test(to),
  );
  assert.deepEqual(wrong, []);
});
