import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../../scripts/bundle.mjs';
import { root } from '../../scripts/install.mjs';

// Builds the program of this folder into dist/power-shell/pwsh, unless it is current. Needs the .NET 10 SDK.

const target = join(root, 'dist', 'power-shell');
const program = join(target, 'pwsh');
const sources = listFiles('test/power-shell').filter((name) => /\.(cs|csproj|json|props)$/.test(name));

const build = () => {
  rmSync(target, { recursive: true, force: true });
  const args = ['build', 'test/power-shell', '--configuration', 'Release', '--output', target];
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' };
  // No server process may stay behind.
  const quiet = ['--nologo', '--verbosity', 'quiet', '-nodeReuse:false'];
  const { status, stdout, error } = spawnSync('dotnet', [...args, ...quiet], { cwd: root, encoding: 'utf8', env });
  if (error) throw error;
  if (status !== 0) throw new Error(stdout.trim());
  writeFileSync(program, `#!/bin/sh\nexec dotnet "\${0%/*}/pwsh.dll" "$@"\n`);
  chmodSync(program, 0o755);
};

try {
  const time = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (sources.some((path) => time(path) > time('dist/power-shell/pwsh'))) build();
} catch (error) {
  process.stderr.write(`PowerShell's engine cannot be built: ${error.message}\n`);
  process.exitCode = 1;
}
