import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { executablePath, nodeLicense } from '../tools/executable/build.mjs';
import { dist } from './bundle.mjs';
import { readJson, root, withFolder } from './install.mjs';

const maintainer = 'the signalbox authors <maintainers@signalbox.invalid>';

const read = (path) => readFileSync(join(root, path), 'utf8');
const compress = (text) => gzipSync(text, { level: 9 });

/** Creates the unit in deploy/ with the paths of the package. */
const createUnit = () =>
  read('deploy/signalbox.service')
    .replace(/^Documentation=.*$/m, 'Documentation=man:signalbox(1)')
    .replace('node /opt/signalbox/dist/signalbox.js', '/usr/bin/signalbox')
    .replace('/etc/signalbox/signalbox.json', '/etc/signalbox/config.json');

/**
 * Creates the file with the licences of signalbox, of the libraries in the program and its pages, and of Node.js with
 * its libraries.
 */
const createCopyright = () => {
  const { version, license } = readJson('package.json');
  const libraries = readJson('dist', 'licences.json');
  const parts = [
    `signalbox ${version} (${license})\n\n${read('LICENSE')}`,
    ...libraries.map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}`),
    `Node.js and the libraries in it\n\n${readFileSync(nodeLicense, 'utf8')}`,
  ];
  return parts.join(`\n${'-'.repeat(70)}\n\n`);
};

/**
 * Packs the executable with its unit, configuration and documents as `signalbox_VERSION_amd64.deb`. The same inputs and
 * SOURCE_DATE_EPOCH, by default the time of the last commit, produce the same bytes.
 */
export const buildDeb = ({ release = readJson('package.json').version, folder = dist }) =>
  withFolder((stage) => {
    const version = release.replace('-', '~');
    const epoch =
      process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).trim();
    const run = (program, ...args) =>
      execFileSync(program, args, { cwd: root, encoding: 'utf8', env: { ...process.env, SOURCE_DATE_EPOCH: epoch } });
    const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000');
    const values = { version, maintainer, date };
    const fill = (name) => read(`deploy/debian/${name}`).replace(/@(\w+)@/g, (_, key) => values[key]);
    // The program itself prints its help, manual and completions.
    const print = (...args) => run(executablePath, ...args);
    const files = {
      'usr/bin/signalbox': readFileSync(executablePath),
      'lib/systemd/system/signalbox.service': createUnit(),
      'etc/signalbox/config.json': read('deploy/debian/config.json'),
      'usr/share/man/man1/signalbox.1.gz': compress(print('man-page')),
      'usr/share/bash-completion/completions/signalbox': print('completion', 'bash'),
      'usr/share/zsh/vendor-completions/_signalbox': print('completion', 'zsh'),
      'usr/share/fish/vendor_completions.d/signalbox.fish': print('completion', 'fish'),
      'usr/share/lintian/overrides/signalbox': read('deploy/debian/lintian-overrides'),
      'usr/share/doc/signalbox/changelog.gz': compress(fill('changelog')),
      'usr/share/doc/signalbox/CHANGELOG.md.gz': compress(read('CHANGELOG.md')),
      'usr/share/doc/signalbox/copyright': createCopyright(),
    };
    const sizes = Object.values(files).map((content) => Math.ceil(Buffer.byteLength(content) / 1024));
    values.kilobytes = sizes.reduce((sum, size) => sum + size, 0);
    const scripts = ['postinst', 'prerm', 'postrm'].map((name) => `DEBIAN/${name}`);
    for (const path of ['DEBIAN/control', 'DEBIAN/conffiles', ...scripts]) files[path] = fill(basename(path));
    const modes = { 'etc/signalbox/config.json': 0o640 };
    for (const path of ['usr/bin/signalbox', ...scripts]) modes[path] = 0o755;
    process.umask(0o022);
    chmodSync(stage, 0o755);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      writeFileSync(join(stage, path), content, { mode: modes[path] ?? 0o644 });
    }
    const deb = join(folder, `signalbox_${version}_amd64.deb`);
    run('dpkg-deb', '--build', '--root-owner-group', stage, deb);
    process.stderr.write(`Built ${relative(root, deb)}, ${Math.round(statSync(deb).size / 1e6)} MB\n`);
  });
