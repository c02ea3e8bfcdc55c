import { needs } from '../../auth/access.ts';
import { defineFeature, type Tool } from '../../kit/feature.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { auditTransfer } from './audit.ts';
import { createCommandSource } from './command-source.ts';
import type { Executor } from './executor.ts';
import { Refusal } from './language.ts';
import { openExecutor } from './open-executor.ts';
import { checkCommand } from './policy.ts';
import { createRemoteRoute } from './remote.ts';
import { createCommandRoutes } from './routes.ts';
import { commandSettings, ExecutionNotice } from './schema.ts';

/** Defines `signalbox check-command LINE`. It checks a line as POST /api/execute does, without running it. */
const checkTool: Tool = {
  name: 'check-command',
  argument: { name: 'LINE', isQuoted: true },
  summary:
    'check whether a command line is allowed, without running the command; print the parsed command, or the reason for the refusal',
  run: (line) => {
    const command = checkCommand(line);
    if (command instanceof Refusal) return { output: `refused: ${command.message}`, ok: false };
    return { output: `allowed: ${command.name} ${JSON.stringify(command.parameters)}`, ok: true };
  },
};

/**
 * Feature that runs diagnostic commands in PowerShell syntax from a fixed allow list. Executions are recorded in a
 * durable audit.
 */
export const commands = defineFeature({
  name: 'commands',
  profiles: [{ name: 'commands', aliases: ['X'], mounts: ['/'], summary: 'allow-listed diagnostic commands' }],
  settings: commandSettings,
  tools: [checkTool],
  transfer: auditTransfer,
  isOn: ({ allowCommands }) => allowCommands,
  create: async (parts) => {
    const { offers, clock, meters, settings } = parts;
    const { topic, publish } = createEventTopic(needs('audit:read'), ExecutionNotice);
    const results = meters.counter('signalbox_commands_total', 'Commands by result.', ['result'], ['ok', 'refused']);
    const count = (result: string): void => {
      results.at(result).value += 1;
    };
    const { executor, audit, runnerName, close } = await openExecutor({
      ...parts,
      count,
      onRecord: ({ requestId }) => publish(() => ({ requestId })),
    });
    const remote = new Set<Executor>();
    return {
      profiles: {
        commands: [
          ...createCommandRoutes({ executor, audit, runnerName }),
          createRemoteRoute({ audit, clock, hosts: () => offers.hosts, count, running: remote }),
        ],
      },
      topics: { executions: topic },
      ...(settings.allowCommands && { offers: { commands: createCommandSource(executor) } }),
      close: async () => {
        await Promise.all([...remote].map((each) => each.close()));
        await close();
      },
    };
  },
});
