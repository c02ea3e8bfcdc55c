import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/server/package-info.ts';
import { createFolder } from '../../support/folder.ts';
import { atEnd, type Scope } from '../../support/scope.ts';

const programs = ['buildah', 'podman', 'runc', 'debootstrap', 'eatmydata'];

/**
 * Returns the reason why no container can be built on this machine, or false. In CI, a missing program fails the tests.
 */
export const toSkip = (): string | false => {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
  return missing.length > 0 && process.env['CI'] !== 'true' && `not installed: ${missing.join(', ')}`;
};

/** Runs a program and returns its output. Throws an error with the output on failure. */
const run = (program: string, args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status}\n${stdout}${stderr}`);
  return stdout.trim();
};

export interface Engine {
  /** Builds the image in deploy/container/Containerfile and returns its name. */
  build(): string;
  /**
   * Builds the image with a folder instead of the build stage and without a base image. Returns the folder with the
   * files of the image.
   */
  pack(folder: string): string;
  podman(...args: string[]): string;
}

/** Creates separate storage with base images made by debootstrap, because there may be no registry. */
export const createEngine = (t: Scope): Engine => {
  const folder = createFolder(t);
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const inThisMachine = ['--cgroup-manager', 'cgroupfs', '--events-backend', 'file', '--runtime', 'runc'];
  const podman = (...args: string[]): string => run('podman', [...storage, ...inThisMachine, ...args]);
  atEnd(t, () => podman('rm', '--force', '--all', '--time', '0'));
  const buildImage = (name: string, context: string, ...args: string[]): string => {
    run('buildah', [...storage, 'bud', '--quiet', '--isolation', 'chroot', '--tag', name, ...args, context]);
    return `localhost/${name}`;
  };
  const createBase = (): string => {
    const root = join(folder, 'base', 'root');
    // The packages are unpacked but not configured. That suffices for a base image and takes half the time.
    run('eatmydata', ['debootstrap', '--foreign', '--variant=minbase', 'bookworm', root]);
    // This folder is a link to the folder of this machine.
    rmSync(join(root, 'proc'), { recursive: true });
    mkdirSync(join(root, 'proc'));
    for (const name of ['passwd', 'group']) {
      cpSync(join(root, 'usr', 'share', 'base-passwd', `${name}.master`), join(root, 'etc', name));
    }
    const unused = ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'var/cache/apt', 'var/lib/apt/lists'];
    run('rm', ['-rf', ...[...unused, 'debootstrap'].map((path) => join(root, path))]);
    writeFileSync(join(folder, 'base', 'Containerfile'), 'FROM scratch\nCOPY root /\n');
    return buildImage('base', join(folder, 'base'));
  };
  /**
   * Creates the base image with the Node and npm that run this test, and the files that npm needs to reach its
   * registry.
   */
  const createBuildImage = (base: string): string => {
    const context = join(folder, 'node');
    mkdirSync(context);
    cpSync(process.execPath, join(context, 'node'));
    const npm = realpathSync(run('sh', ['-c', 'command -v npm']));
    cpSync(dirname(dirname(npm)), join(context, 'npm'), { recursive: true });
    cpSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'ca.crt'));
    const registry = run('npm', ['config', 'get', 'registry']);
    writeFileSync(join(context, 'npmrc'), `registry=${registry}\ncafile=/etc/ca.crt\nupdate-notifier=false\n`);
    const lines = [
      `FROM ${base}`,
      'COPY node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'COPY ca.crt /etc/ca.crt',
      'COPY npmrc /root/.npmrc',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    ];
    writeFileSync(join(context, 'Containerfile'), `${lines.join('\n')}\n`);
    return buildImage('node', context);
  };
  const containerfile = ['--format', 'docker', '--file', join(packageRoot, 'deploy', 'container', 'Containerfile')];
  return {
    podman,
    pack: (from) => {
      const images = ['--build-arg', 'BASE_IMAGE=scratch', '--build-arg', 'BUILD_IMAGE=scratch'];
      const image = buildImage('packed', packageRoot, ...containerfile, '--build-context', `build=${from}`, ...images);
      atEnd(t, () => podman('image', 'unmount', image));
      return podman('image', 'mount', image);
    },
    build: () => {
      const base = createBase();
      const images = ['--build-arg', `BASE_IMAGE=${base}`, '--build-arg', `BUILD_IMAGE=${createBuildImage(base)}`];
      return buildImage('signalbox', packageRoot, ...containerfile, ...images);
    },
  };
};
