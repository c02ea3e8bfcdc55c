import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { executablePath } from '../executable/build.mjs';
import { root } from '../install.mjs';
import { toDebianChangelog } from './changelog.mjs';
import { createCopyright } from './copyright.mjs';

const sources = join(root, 'deploy', 'debian');
const maintainer = 'the signalbox authors <maintainers@signalbox.invalid>';

/**
 * Packs the executable, its unit, configuration and documents as `signalbox_VERSION_amd64.deb`. The same inputs with the
 * same SOURCE_DATE_EPOCH, by default the time of the last commit, give the same bytes.
 */
export const buildDeb = async ({ release, folder = join(root, 'dist') }) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const debianVersion = (release ?? version).replace('-', '~');
  const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
  const date = new Date(Number(epoch) * 1000);
  const stage = mkdtempSync(join(tmpdir(), 'signalbox-deb-'));
  try {
    const files = { ...(await createFiles(debianVersion, date)), ...createControl() };
    for (const [path, { text, mode = 0o644 }] of Object.entries(files)) write(join(stage, path), text, mode);
    copyFileSync(executablePath, join(stage, 'usr', 'bin', 'signalbox'));
    const size = listFiles(stage).reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0);
    const control = readFileSync(join(sources, 'control'), 'utf8')
      .replace('@VERSION@', debianVersion)
      .replace('@MAINTAINER@', maintainer)
      .replace('@SIZE@', String(size));
    write(join(stage, 'DEBIAN', 'control'), control, 0o644);
    for (const path of listFolders(stage)) chmodSync(path, 0o755);
    const deb = join(folder, `signalbox_${debianVersion}_amd64.deb`);
    run('dpkg-deb', ['--build', '--root-owner-group', stage, deb], { SOURCE_DATE_EPOCH: epoch });
    process.stderr.write(`Built ${relative(root, deb)}, ${Math.round(statSync(deb).size / 1e6)} MB\n`);
  } finally {
    rmSync(stage, { recursive: true });
  }
};

/** The installed files. What the program prints about itself is taken from it. */
const createFiles = async (version, date) => {
  const print = (...args) => run(executablePath, args, { SOURCE_DATE_EPOCH: String(date.getTime() / 1000) });
  const doc = 'usr/share/doc/signalbox';
  const changelog = toDebianChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), { version, date, maintainer });
  return {
    'usr/bin/signalbox': { text: '', mode: 0o755 },
    'lib/systemd/system/signalbox.service': { text: createUnit() },
    'etc/signalbox/config.json': { text: readFileSync(join(sources, 'config.json')), mode: 0o640 },
    'usr/share/man/man1/signalbox.1.gz': { text: compress(print('man-page')) },
    'usr/share/bash-completion/completions/signalbox': { text: print('completion', 'bash') },
    'usr/share/zsh/vendor-completions/_signalbox': { text: print('completion', 'zsh') },
    'usr/share/fish/vendor_completions.d/signalbox.fish': { text: print('completion', 'fish') },
    'usr/share/lintian/overrides/signalbox': { text: readFileSync(join(sources, 'lintian-overrides')) },
    [`${doc}/changelog.gz`]: { text: compress(changelog) },
    [`${doc}/copyright`]: { text: await createCopyright() },
  };
};

const createControl = () => ({
  'DEBIAN/conffiles': { text: readFileSync(join(sources, 'conffiles')) },
  ...Object.fromEntries(
    ['postinst', 'prerm', 'postrm'].map((name) => [
      `DEBIAN/${name}`,
      { text: readFileSync(join(sources, name)), mode: 0o755 },
    ]),
  ),
});

/** The unit of deploy/, with the paths of the package. */
const createUnit = () =>
  readFileSync(join(root, 'deploy', 'signalbox.service'), 'utf8')
    .replace(/^Documentation=.*$/m, 'Documentation=man:signalbox(1)')
    .replace('node /opt/signalbox/dist/signalbox.js', '/usr/bin/signalbox')
    .replace('/etc/signalbox/signalbox.json', '/etc/signalbox/config.json');

const compress = (text) => gzipSync(text, { level: 9 });

const write = (path, text, mode) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
};

const listEntries = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isFolder: entry.isDirectory(),
  }));

const listFiles = (folder) => listEntries(folder).flatMap(({ path, isFolder }) => (isFolder ? [] : [path]));

const listFolders = (folder) => [
  folder,
  ...listEntries(folder).flatMap(({ path, isFolder }) => (isFolder ? [path] : [])),
];

/** The output of a program; throws with its errors if it fails. */
const run = (program, args, variables = {}) => {
  const env = { ...process.env, ...variables };
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: root, env });
  if (error?.code === 'ENOENT') throw new Error(`${program} is not installed`);
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
};
