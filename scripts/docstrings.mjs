import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from './bundle.mjs';
import { root } from './install.mjs';

/** Folders whose docstrings begin with the name of the thing or the action, subfolders included. */
const folders = [
  'bench',
  'console',
  'scripts',
  'src',
  'test',
  'tools/docs/.vitepress',
  'tools/docs/reference',
  'tools/texts',
];

const words = '(?:What|Who|Whoever|Those|That|Whether|How|Where|Of|So)\\b';

/** Docstring that starts with a relative clause instead of a noun. */
const docstring = new RegExp(`^ *\\/\\*\\*[\\s*]+${words}.*`, 'gm');

/** Console text with the same start. */
const consoleText = new RegExp(`['"\`]${words}.*`, 'g');

const find = (pattern, ...paths) =>
  listFiles(...paths)
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .flatMap((file) => (readFileSync(join(root, file), 'utf8').match(pattern) ?? []).map((text) => `${file}: ${text}`));

const found = [...find(docstring, ...folders), ...find(consoleText, 'console/strings')];
if (found.length > 0) process.stderr.write(`Begin with the thing or the action by its name:\n${found.join('\n')}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
