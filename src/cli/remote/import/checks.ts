import { otherVariables } from '../../../config/names.ts';
import { readChoice, UsageError } from '../../args.ts';
import { say } from '../../stdio.ts';
import { defineAskingCommand } from '../ask.ts';
import { followPlan } from './changes.ts';
import type { CheckPlan } from './planned-check.ts';

const programs = ['uptime-kuma', 'gatus', 'healthchecks'] as const;
type Program = (typeof programs)[number];

export const importChecksCommand = defineAskingCommand({
  name: 'import-checks',
  argument: { name: 'FILE|URL' },
  summary: 'Import the checks of another program as watches and heartbeats.',
  details: [
    'Prints a plan. Nothing changes without --apply; existing watches and heartbeats stay as they are.',
    'uptime-kuma: the file kuma.db, while Uptime Kuma is stopped. gatus: the config file in YAML.',
    `healthchecks: a saved response of /api/v3/checks/, or the URL of that path, with the API key in ${otherVariables.importKey}. Heartbeats keep the addresses of their checks.`,
  ],
  flags: {
    from: { value: 'PROGRAM', summary: 'Program to import from.', choices: programs },
    plan: { summary: 'Print only the plan (the default).' },
    apply: { summary: 'Apply the plan.' },
  },
  scope: 'admin',
  run: async (asking, { words: [source = ''], own: { from, plan, apply, json } }) => {
    if (from === undefined) throw new UsageError(`--from is required: one of ${programs.join(', ')}`);
    if (plan && apply) throw new UsageError('use only one of --plan and --apply');
    const program = readChoice('--from', from, programs);
    const { ImportError, readExplained } = await import('./documents.ts');
    try {
      const found = await readExplained(() => readChecks(program, source));
      return await followPlan(asking, await found.compare(asking), { apply, json });
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      say(`${source}: ${error.message}`);
      return 1;
    }
  },
});

const readChecks = async (program: Program, source: string): Promise<CheckPlan> => {
  const { isUrl, openDownload, parseExport, readExport } = await import('./download.ts');
  switch (program) {
    case 'uptime-kuma':
      return (await import('./uptime-kuma.ts')).planUptimeKuma(source);
    case 'gatus':
      return (await import('./gatus.ts')).planGatus((await readExport(source)).toString());
    case 'healthchecks': {
      const document = isUrl(source)
        ? await openDownload(source, (key) => ({ 'x-api-key': key })).get('')
        : parseExport((await readExport(source)).toString(), 'the file');
      return (await import('./healthchecks.ts')).planHealthchecks(document);
    }
  }
};
