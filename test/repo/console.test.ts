import assert from 'node:assert/strict';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';
import { listFiles, readText } from './support/documents.ts';

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

const files = listFiles('console').filter((path) => /\.tsx?$/.test(path));

/** Imports in the files of the console, as paths from the repository's root. */
const imports: Import[] = files.flatMap((from) =>
  [...readText(from).matchAll(/^(?:import|export)( type)?\b[^;']*'(\.[^']+)';$/gm)].map(([, type, to = '']) => ({
    from,
    to: join(dirname(from), to),
    isTypeOnly: type !== undefined,
  })),
);

test('the console imports only types, the client and files without imports from the server', () => {
  assert.ok(imports.length > 50);
  const ofServer = imports.filter(({ to }) => to.startsWith('src/') && !to.startsWith('src/client/'));
  const wrong = ofServer.filter(({ to, isTypeOnly }) => !isTypeOnly && /^import\b(?! type)/m.test(readText(to)));
  assert.deepEqual(wrong, []);
});
