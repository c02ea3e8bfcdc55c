import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toConsoleOptions } from '../console/build.mjs';
import { buildExecutable } from '../tools/executable/build.mjs';
import { buildPackage, dist } from './bundle.mjs';
import { buildDeb } from './deb.mjs';
import { install, root, run } from './install.mjs';

const options = { release: { type: 'string' }, folder: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [target = 'files', ...others] = positionals;

const targets = {
  files: buildPackage,
  /** Packs the npm package into `--folder FOLDER`. */
  package: async () => {
    await buildPackage();
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', values.folder ?? root]);
  },
  executable: buildExecutable,
  /** Packs the executable into `--folder FOLDER`. `--release 0.2.0` overrides the version, for tests of upgrades. */
  deb: async () => {
    await buildExecutable();
    await buildDeb(values);
  },
  /** Rebuilds the console after each change. */
  console: async () => {
    const { context } = await import('esbuild');
    const watched = await context({ ...toConsoleOptions(join(dist, 'console')), metafile: true, logLevel: 'info' });
    await watched.watch();
  },
  /** Builds the documentation site in dist/site. `dev` serves it with hot reload, `preview` serves the built site. */
  docs: async () => {
    await install('tools/docs');
    run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', others[0] ?? 'build', 'tools/docs']);
  },
  /** Installs everything that tests and measurements need. */
  tools: async () => {
    await install('tools', 'tools/client');
    await buildPackage();
  },
};

try {
  await targets[target]();
} catch (error) {
  process.stderr.write(`signalbox: cannot build: ${error.message}\n`);
  process.exitCode = 1;
}
