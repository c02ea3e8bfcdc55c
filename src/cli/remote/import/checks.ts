import { otherVariables } from '../../../config/names.ts';
import { defineImportCommand } from './command.ts';
import type { CheckPlan } from './planned-check.ts';

const programs = ['uptime-kuma', 'gatus', 'healthchecks'] as const;
type Program = (typeof programs)[number];

export const importChecksCommand = defineImportCommand({
  name: 'import-checks',
  summary: 'Import the checks of another program as watches and heartbeats.',
  details: [
    'Prints a plan. Nothing changes without --apply. Existing watches and heartbeats do not change; a repeated import only completes an interrupted import.',
    'uptime-kuma: the file kuma.db, while Uptime Kuma is stopped. gatus: the config file in YAML.',
    `healthchecks: a saved response of /api/v3/checks/, or the URL of that path, with the API key in ${otherVariables.importKey}. Heartbeats keep the addresses of their checks.`,
  ],
  programs,
  plan: async (asking, program, source) => {
    const { readExplained } = await import('./documents.ts');
    const found = await readExplained(() => readChecks(program, source));
    return found.compare(asking);
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
