import { otherVariables } from '../../../config/names.ts';
import { readChoice, UsageError } from '../../args.ts';
import { say } from '../../stdio.ts';
import { defineAskingCommand } from '../ask.ts';
import { followPlan } from './changes.ts';
import type { OnCallDraft } from './draft.ts';

const programs = ['grafana-oncall', 'opsgenie', 'pagerduty', 'goalert'] as const;
type Program = (typeof programs)[number];

/** Headers with which each program expects its API key. */
const toHeaders: Record<Program, (key: string) => Record<string, string>> = {
  'grafana-oncall': (key) => ({ authorization: key }),
  opsgenie: (key) => ({ authorization: `GenieKey ${key}` }),
  pagerduty: (key) => ({ authorization: `Token token=${key}`, accept: 'application/vnd.pagerduty+json;version=2' }),
  goalert: (key) => ({ authorization: `Bearer ${key}` }),
};

export const importOncallCommand = defineAskingCommand({
  name: 'import-oncall',
  argument: { name: 'FILE|URL' },
  summary: 'Import people, rotations, overrides and escalation policies of another on-call program.',
  details: [
    'Prints a plan. Nothing changes without --apply; a second import changes nothing.',
    `URL is the address of the program's API; the key is read from ${otherVariables.importKey}. FILE contains the lists of that API in one JSON object, such as {"users": [...], "schedules": [...]}.`,
    'New users are Readers with an initial password, which is printed once. Routing is not imported: set a default policy afterwards.',
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
      const draft = await readExplained(() => readDraft(program, source));
      const { planChanges, readPresent } = await import('./oncall-plan.ts');
      const present = await readPresent(asking);
      const changes = await readExplained(() => planChanges(draft, present, new Date()));
      return await followPlan(asking, { changes, leftOut: draft.notes }, { apply, json });
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      say(`${source}: ${error.message}`);
      return 1;
    }
  },
});

const readDraft = async (program: Program, source: string): Promise<OnCallDraft> => {
  const { Entry } = await import('./documents.ts');
  const now = new Date();
  const document = new Entry(await readDocument(program, source), '');
  switch (program) {
    case 'grafana-oncall':
      return (await import('./grafana-oncall.ts')).readGrafanaOnCall(document);
    case 'opsgenie':
      return (await import('./opsgenie.ts')).readOpsgenie(document);
    case 'pagerduty':
      return (await import('./pagerduty.ts')).readPagerDuty(document);
    case 'goalert':
      return (await import('./goalert.ts')).readGoAlert(document, now);
  }
};

/** Reads the file, or downloads the lists from the address. Throws an ImportError if neither works. */
const readDocument = async (program: Program, source: string): Promise<unknown> => {
  const { isUrl, openDownload, parseExport, readExport } = await import('./download.ts');
  if (!isUrl(source)) return parseExport((await readExport(source)).toString(), 'the file');
  const download = openDownload(source, toHeaders[program]);
  switch (program) {
    case 'grafana-oncall':
      return (await import('./grafana-oncall.ts')).downloadGrafanaOnCall(download);
    case 'opsgenie':
      return (await import('./opsgenie.ts')).downloadOpsgenie(download);
    case 'pagerduty':
      return (await import('./pagerduty.ts')).downloadPagerDuty(download);
    case 'goalert':
      return (await import('./goalert.ts')).downloadGoAlert(download);
  }
};
