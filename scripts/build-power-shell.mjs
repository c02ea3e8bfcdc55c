import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './install.mjs';
import { withLock } from './lock.mjs';

// Builds the program of test/power-shell into dist/power-shell/pwsh, unless it is current. Needs the .NET 10 SDK.

const project = join(root, 'test', 'power-shell');
const target = join(root, 'dist', 'power-shell');
const stamp = join(target, 'sources');

const findDotnet = () =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'dotnet'))
    .find((path) => existsSync(path));

const hashSources = () => {
  const hash = createHash('sha256').update(project);
  for (const name of readdirSync(project, { recursive: true }).sort()) {
    if (/\.(cs|csproj|json)$/.test(name)) hash.update(`${name}\0`).update(readFileSync(join(project, name)));
  }
  return hash.digest('hex');
};

const isCurrent = (sources) => existsSync(stamp) && readFileSync(stamp, 'utf8') === sources;

const build = (dotnet, sources) => {
  const objects = mkdtempSync(join(tmpdir(), 'signalbox-power-shell-'));
  rmSync(target, { recursive: true, force: true });
  try {
    const { status, stdout } = spawnSync(
      dotnet,
      [
        ...['build', project, '--configuration', 'Release', '--output', target, '--nologo', '--verbosity', 'quiet'],
        // No server process may stay behind.
        ...['-nodeReuse:false', '-p:UseSharedCompilation=false'],
        ...[`-p:BaseIntermediateOutputPath=${objects}/`, '-p:RestoreLockedMode=true'],
      ],
      { encoding: 'utf8', env: { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' } },
    );
    if (status !== 0) throw new Error(stdout.trim());
  } finally {
    rmSync(objects, { recursive: true, force: true });
  }
  const program = join(target, 'pwsh');
  writeFileSync(program, `#!/bin/sh\nexec '${dotnet}' '${target}/pwsh.dll' "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(stamp, sources);
};

const sources = hashSources();
const dotnet = findDotnet();
try {
  if (dotnet === undefined) throw new Error('dotnet is not installed');
  await withLock(
    root,
    () => isCurrent(sources) || build(dotnet, sources),
    () => undefined,
  );
} catch (error) {
  process.stderr.write(`PowerShell's engine cannot be built: ${error.message}\n`);
  process.exitCode = 1;
}
