import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { hashFiles, listFiles } from './bundle.mjs';
import { root } from './install.mjs';
import { withLock } from './lock.mjs';

// Builds the program of test/power-shell into dist/power-shell/pwsh, unless it is current. Needs the .NET 10 SDK.

const target = join(root, 'dist', 'power-shell');
const stamp = join(target, 'sources');
const hash = hashFiles(listFiles('test/power-shell').filter((name) => /\.(cs|csproj|json)$/.test(name)));
const folders = (process.env.PATH ?? '').split(delimiter);
const dotnet = folders.map((folder) => join(folder, 'dotnet')).find((path) => existsSync(path));

const build = () => {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  const objects = mkdtempSync(join(tmpdir(), 'signalbox-power-shell-'));
  rmSync(target, { recursive: true, force: true });
  const args = [
    ...[
      'build',
      'test/power-shell',
      '--configuration',
      'Release',
      '--output',
      target,
      '--nologo',
      '--verbosity',
      'quiet',
    ],
    // No server process may stay behind.
    ...['-nodeReuse:false', '-p:UseSharedCompilation=false', '-p:RestoreLockedMode=true'],
    `-p:BaseIntermediateOutputPath=${objects}/`,
  ];
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' };
  const { status, stdout } = spawnSync(dotnet, args, { cwd: root, encoding: 'utf8', env });
  rmSync(objects, { recursive: true, force: true });
  if (status !== 0) throw new Error(stdout.trim());
  const program = join(target, 'pwsh');
  writeFileSync(program, `#!/bin/sh\nexec '${dotnet}' '${target}/pwsh.dll' "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(stamp, hash);
};

try {
  if (dotnet === undefined) throw new Error('dotnet is not installed');
  await withLock(root, build);
} catch (error) {
  process.stderr.write(`PowerShell's engine cannot be built: ${error.message}\n`);
  process.exitCode = 1;
}
