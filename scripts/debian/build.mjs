import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { executablePath, nodeLicense } from '../executable/build.mjs';
import { root } from '../install.mjs';
import { listLicences } from '../licences.mjs';

const maintainer = 'the signalbox authors <maintainers@signalbox.invalid>';
const doc = 'usr/share/doc/signalbox';

/**
 * Packs the executable with its unit, configuration and documents as `signalbox_VERSION_amd64.deb`. The same inputs and
 * SOURCE_DATE_EPOCH, by default the time of the last commit, produce the same bytes.
 */
export const buildDeb = ({ release, folder = join(root, 'dist') }) => {
  const version = (release ?? JSON.parse(read('package.json')).version).replace('-', '~');
  const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
  const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000');
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch };
  const stage = mkdtempSync(join(tmpdir(), 'signalbox-deb-'));
  const write = (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), content);
    chmodSync(join(stage, path), mode);
  };
  // The program itself prints its help, manual and completions.
  const print = (...args) => run(executablePath, args, env);
  try {
    write('usr/bin/signalbox', readFileSync(executablePath), 0o755);
    write('lib/systemd/system/signalbox.service', createUnit());
    write('etc/signalbox/config.json', read('deploy/debian/config.json'), 0o640);
    write('usr/share/man/man1/signalbox.1.gz', compress(print('man-page')));
    write('usr/share/bash-completion/completions/signalbox', print('completion', 'bash'));
    write('usr/share/zsh/vendor-completions/_signalbox', print('completion', 'zsh'));
    write('usr/share/fish/vendor_completions.d/signalbox.fish', print('completion', 'fish'));
    write('usr/share/lintian/overrides/signalbox', read('deploy/debian/lintian-overrides'));
    write(`${doc}/changelog.gz`, compress(fill('changelog', { version, maintainer, date })));
    write(`${doc}/CHANGELOG.md.gz`, compress(read('CHANGELOG.md')));
    write(`${doc}/copyright`, createCopyright());
    const kilobytes = listFiles(stage).reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0);
    write('DEBIAN/control', fill('control', { version, maintainer, kilobytes }));
    write('DEBIAN/conffiles', read('deploy/debian/conffiles'));
    for (const name of ['postinst', 'prerm', 'postrm']) write(`DEBIAN/${name}`, read(`deploy/debian/${name}`), 0o755);
    run('find', [stage, '-type', 'd', '-exec', 'chmod', '755', '{}', '+']);
    const deb = join(folder, `signalbox_${version}_amd64.deb`);
    run('dpkg-deb', ['--build', '--root-owner-group', stage, deb], env);
    process.stderr.write(`Built ${relative(root, deb)}, ${Math.round(statSync(deb).size / 1e6)} MB\n`);
  } finally {
    rmSync(stage, { recursive: true });
  }
};

const read = (path) => readFileSync(join(root, path), 'utf8');

/** Fills in a file of deploy/debian, replacing `@name@` with values. */
const fill = (name, values) => read(`deploy/debian/${name}`).replace(/@(\w+)@/g, (_, key) => values[key]);

/** Creates the unit from deploy/, using the package's paths. */
const createUnit = () =>
  read('deploy/signalbox.service')
    .replace(/^Documentation=.*$/m, 'Documentation=man:signalbox(1)')
    .replace('node /opt/signalbox/dist/signalbox.js', '/usr/bin/signalbox')
    .replace('/etc/signalbox/signalbox.json', '/etc/signalbox/config.json');

/**
 * Lists the licences of signalbox, of the libraries in the program and its pages, and of Node.js with its libraries.
 */
const createCopyright = () => {
  const { version, license } = JSON.parse(read('package.json'));
  const parts = [
    `signalbox ${version} (${license})\n\n${read('LICENSE')}`,
    ...listLicences().map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}`),
    `Node.js and the libraries in it\n\n${readFileSync(nodeLicense, 'utf8')}`,
  ];
  return parts.join(`\n${'-'.repeat(70)}\n\n`);
};

const compress = (text) => gzipSync(text, { level: 9 });

const listFiles = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const run = (program, args, env = process.env) =>
  execFileSync(program, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
