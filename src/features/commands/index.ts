import { needs } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { findProgram } from '../../host/programs.ts';
import type { HostReadings } from '../../host/readings.ts';
import { defineFeature, type Tool } from '../../kit/feature.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { auditTransfer, createAudit } from './audit.ts';
import { createExecutor, type Executor } from './executor.ts';
import { Refusal } from './language.ts';
import { createNativeRunner } from './native/runner.ts';
import { checkCommand } from './policy.ts';
import { createPowerShellRunner } from './power-shell/runner.ts';
import { createCommandSource, createRemoteRoute } from './remote.ts';
import { createCommandRoutes } from './routes.ts';
import type { Runner } from './runner.ts';
import { commandSettings, ExecutionNotice } from './schema.ts';

/** `signalbox check-command LINE`: checks a line as POST /api/execute does, without running it. */
const checkTool: Tool = {
  name: 'check-command',
  argument: { name: 'LINE', isQuoted: true },
  summary:
    'check whether a command line is allowed, without running it; print the parsed command, or the reason for the refusal',
  run: (line) => {
    const command = checkCommand(line);
    if (command instanceof Refusal) return { output: `refused: ${command.message}`, ok: false };
    return { output: `allowed: ${command.name} ${JSON.stringify(command.parameters)}`, ok: true };
  },
};

/** Diagnostic commands in PowerShell syntax from a fixed allow list, with a durable audit of executions. */
export const commands = defineFeature({
  name: 'commands',
  profiles: [{ name: 'commands', aliases: ['X'], mounts: ['/'], summary: 'allow-listed diagnostic commands' }],
  settings: commandSettings,
  tools: [checkTool],
  transfer: auditTransfer,
  isOn: ({ allowCommands }) => allowCommands,
  create: async ({ host, offers, clock, storage, powerShellPaths, meters, settings }) => {
    const { commandRunner, commandTimeout: timeoutSeconds } = settings;
    const runner = await chooseRunner({ commandRunner, powerShellPaths, host, clock });
    const { auditRetainBytes: retainBytes, auditRetainDays: retainDays } = settings;
    const journal = storage.database
      ? await DatabaseLog.open({ database: storage.database, table: 'audit', clock, retainDays: () => retainDays })
      : await storage.log('commands', { title: 'command audit', retainBytes, retainDays });
    const { topic, publish } = createEventTopic(needs('audit:read'), ExecutionNotice);
    const audit = createAudit(journal, ({ requestId }) => publish(() => ({ requestId })));
    const results = meters.counter('signalbox_commands_total', 'Commands by result.', ['result'], ['ok', 'refused']);
    const count = (result: string): void => {
      results.at(result).value += 1;
    };
    const executor = createExecutor({
      runner,
      timeoutSeconds,
      audit,
      clock,
      count,
    });
    const remote = new Set<Executor>();
    return {
      profiles: {
        commands: [
          ...createCommandRoutes({ executor, audit, runnerName: runner.name }),
          createRemoteRoute({ audit, clock, hosts: () => offers.hosts, count, running: remote }),
        ],
      },
      topics: { executions: topic },
      ...(settings.allowCommands && { offers: { commands: createCommandSource(executor) } }),
      close: async () => {
        await Promise.all([executor, ...remote].map((each) => each.close()));
        await journal.close();
      },
    };
  },
});

interface RunnerChoice {
  commandRunner: 'auto' | Runner['name'];
  /** Absolute paths; the first one that exists is used. */
  powerShellPaths: readonly string[];
  host: HostReadings;
  clock: () => Date;
  platform?: NodeJS.Platform;
}

/**
 * Returns the runner chosen in the settings. Rejects with a SettingsError if PowerShell is required but not installed.
 */
export const chooseRunner = async ({
  commandRunner,
  powerShellPaths,
  host,
  clock,
  platform = process.platform,
}: RunnerChoice): Promise<Runner> => {
  const ownRunner = platform === 'win32' ? 'powershell' : 'native';
  const name = commandRunner === 'auto' ? ownRunner : commandRunner;
  if (name === 'native') return createNativeRunner({ host, clock });
  const program = await findProgram(powerShellPaths);
  if (program !== null) return createPowerShellRunner(program, platform);
  const places = powerShellPaths.join(', ') || 'any known path';
  throw new SettingsError([
    `commandRunner is ${commandRunner}, but there is no PowerShell at ${places}: ` +
      'install it, set powershellPath, or set commandRunner to native',
  ]);
};
