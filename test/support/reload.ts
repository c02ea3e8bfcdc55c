import assert from 'node:assert/strict';
import { writeConfig } from './config-file.ts';
import { createFolder } from './folder.ts';
import { type Running, startProgram } from './program.ts';
import type { Scope } from './scope.ts';
import { waitUntil } from './wait.ts';

const reloaded = '"msg":"settings reloaded"';
export const notReloaded = '"msg":"settings not reloaded';

interface Reloadable extends Running {
  /** Path of the config file. */
  path: string;
  /** Writes these settings, if any, sends SIGHUP, and waits until one more line of the log contains the text. */
  reload(settings?: object | string, line?: string): Promise<void>;
}

/** Starts the program with these settings in a config file. */
export const startReloadable = async (
  t: Scope,
  settings: object,
  variables: Record<string, string> = {},
): Promise<Reloadable> => {
  const cwd = createFolder(t);
  const path = writeConfig(cwd, settings);
  const program = await startProgram(t, ['--config', path], { cwd, variables });
  const { child, output } = program;
  const reload = async (next?: object | string, line = reloaded): Promise<void> => {
    const count = () => output.stderr.split(line).length;
    const before = count();
    if (next !== undefined) writeConfig(cwd, next);
    child.kill('SIGHUP');
    await waitUntil(`the log has ${line}`, () => count() > before);
    assert.equal(count(), before + 1, output.stderr);
  };
  return { ...program, path, reload };
};
