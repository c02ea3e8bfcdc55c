import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from './bundle.mjs';
import { root } from './install.mjs';

/** Folders whose docstrings begin with the name of the thing or the action; add a folder once all of them do. */
const folders = [
  'bench',
  'console',
  'scripts',
  'src/auth',
  'src/cli',
  'src/client',
  'src/config',
  'src/features/about',
  'src/features/accounts',
  'src/features/alertmanager',
  'src/features/alerts',
  'src/features/commands',
  'src/features/console',
  'src/features/events',
  'src/features/heartbeats',
  'src/features/history',
  'src/features/hosts',
  'src/features/incidents',
  'src/features/instances',
  'src/features/items',
  'src/features/metrics',
  'src/features/monitoring',
  'src/features/notifications',
  'src/features/pictures',
  'src/features/reports',
  'src/features/settings',
  'src/features/silences',
  'src/features/simple-tasks',
  'src/features/status',
  'src/features/tasks',
  'src/features/watches',
  'src/host',
  'src/http',
  'src/kit',
  'src/lib',
  'src/metrics',
  'src/server',
  'src/storage',
  'test/accounts',
  'test/client',
  'test/commands',
  'test/conformance',
  'test/container',
  'test/faults',
  'test/first-run',
  'test/fuzz',
  'test/heartbeats',
  'test/hosts',
  'test/http-framing',
  'test/incidents',
  'test/package',
  'test/peers',
  'test/pictures',
  'test/power-shell',
  'test/program',
  'test/runner',
  'test/scale-out',
  'test/silences',
  'test/stores',
  'test/support',
  'test/systemd',
  'test/upgrade',
  'test/watches',
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
