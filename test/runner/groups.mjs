import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../scripts/install.mjs';

/** Maximum number of files per process; loading the program takes most of a second per process. */
const maxFiles = 16;

/** Files that need their own process: they kill, mount, change the time zone, or hold many connections. */
const alone = /^test\/(first-run|faults|fuzz|peers|scale-out|systemd|container|conformance\/tasks-time)/;

/** Files that run only if named: they need root and take minutes. */
const onlyNamed = /^test\/(systemd|container)\//;

/** Slow folders, which begin first. */
const slow = ['test/first-run', 'test/stores', 'test/program', 'test/peers', 'test/watches', 'test/scale-out', 'test'];

/** Tests that also run with other stores. */
const stored = /^test\/conformance\/(tasks|items|simple-tasks|protected|seed)/;
const stores = {
  file: stored,
  postgres: new RegExp(`${stored.source}|^test/(incidents/routes|silences/alertmanager)`),
};

/** Lists test files with the suffix; `names` selects files whose path contains any of the names. */
export const listTests = (names, suffix) =>
  ['src', 'test', 'bench']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith(suffix))
    .filter((file) => (names.length > 0 ? names.some((name) => file.includes(name)) : !onlyNamed.test(file)))
    .sort();

/** Divides files into groups `{files, store}`; the files of a group share a process. */
export const toGroups = (files) => {
  const again = Object.entries(stores).map(([store, pattern]) => [store, files.filter((file) => pattern.test(file))]);
  const groups = [[undefined, files], ...again].flatMap(([store, members]) =>
    [...new Set(members.map(toArea))]
      .flatMap((area) => split(members.filter((file) => toArea(file) === area)))
      .map((each) => ({ files: each, store })),
  );
  const rank = ({ files: [file] }) => [...slow, ''].findIndex((folder) => file.startsWith(folder));
  return groups.sort((one, other) => rank(one) - rank(other));
};

const toArea = (file) => {
  const area = dirname(file).split('/').slice(0, 2).join('/');
  if (alone.test(file)) return file;
  return /^src\/(?!features|storage)/.test(file) ? 'src' : area;
};

const split = (files) => {
  const count = Math.ceil(files.length / maxFiles);
  return Array.from({ length: count }, (_, index) => files.filter((_, at) => at % count === index));
};

/** Writes a module that runs a group; returns its path. */
export const writeGroup = (folder, { files, store }, index) => {
  const name = [String(index).padStart(3, '0'), ...files[0].split('/').slice(0, 2), store].filter(Boolean).join('-');
  const path = join(folder, `${name}.mjs`);
  const group = new URL('group.mjs', import.meta.url).href;
  const modules = files.map((file) => pathToFileURL(join(root, file)).href);
  const variable = store ? `process.env.SIGNALBOX_TEST_STORE = '${store}';\n` : '';
  writeFileSync(path, `import { load } from '${group}';\n${variable}await load(${JSON.stringify(modules)});\n`);
  return path;
};
