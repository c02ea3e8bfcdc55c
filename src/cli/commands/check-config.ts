import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettingsError } from '../../config/settings-error.ts';
import { UsageError } from '../args.ts';
import { defineCommand } from '../command.ts';
import { escapeControls, print } from '../messages.ts';

/** Checks the settings like a server start, but does not listen and uses an empty temporary data folder. */
export const checkConfig = defineCommand({
  name: 'check-config',
  argument: { name: 'FILE' },
  summary: 'Check a config file without starting the server.',
  settings: 'all',
  run: async ({ words: [file = ''], flags }) => {
    if (flags['config'] !== undefined) {
      throw new UsageError('check-config takes its file without --config: remove the flag');
    }
    const { parts, schema } = await import('../program.ts');
    const { prepare } = await parts.serve();
    const dataDir = createTemporaryFolder();
    try {
      const overrides = { dataDir, logLevel: 'warn' } as const;
      const { app, log, warnings } = await prepare(schema, { ...flags, config: file }, overrides);
      await app.server.close();
      for (const warning of warnings) log.warn(warning);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
    print(`${escapeControls(file)} is valid\n`);
    return undefined;
  },
});

const createTemporaryFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'signalbox-check-'));
  } catch {
    throw new SettingsError([
      `cannot create a temporary folder in ${tmpdir()}: set TMPDIR to a folder that this account can write`,
    ]);
  }
};
