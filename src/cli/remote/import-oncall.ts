import { createReadStream } from 'node:fs';
import { otherVariables } from '../../config/names.ts';
import { MiB } from '../../lib/units.ts';
import { readChoice, UsageError } from '../args.ts';
import { escapeControls, explainSystemError, print, readInput, say } from '../stdio.ts';
import { type Asking, defineAskingCommand } from './ask.ts';
import type { OnCallDraft } from './moving/draft.ts';
import type { PlannedChange } from './moving/plan.ts';

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
    `URL is the address of the program's API; the key is read from ${otherVariables.importKey}. FILE contains the lists of that API in one JSON object, such as {"users": …, "schedules": …}.`,
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
    const { ImportError } = await import('./moving/documents.ts');
    try {
      const draft = await readDraft(program, source);
      const { planChanges, readPresent } = await import('./moving/plan.ts');
      const changes = planChanges(draft, await readPresent(asking), new Date());
      if (json) asking.show(changes.map(toShown), () => '');
      else print(describePlan(changes, draft.notes));
      if (apply) return await applyChanges(asking, changes);
      if (!json) print('Nothing has changed. Apply the plan with --apply.\n');
      return 0;
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      say(`${source}: ${error.message}`);
      return 1;
    }
  },
});

const readDraft = async (program: Program, source: string): Promise<OnCallDraft> => {
  const { Entry } = await import('./moving/documents.ts');
  const now = new Date();
  const document = new Entry(await readDocument(program, source), '');
  switch (program) {
    case 'grafana-oncall':
      return (await import('./moving/grafana-oncall.ts')).readGrafanaOnCall(document);
    case 'opsgenie':
      return (await import('./moving/opsgenie.ts')).readOpsgenie(document);
    case 'pagerduty':
      return (await import('./moving/pagerduty.ts')).readPagerDuty(document);
    case 'goalert':
      return (await import('./moving/goalert.ts')).readGoAlert(document, now);
  }
};

/** Reads the file, or downloads the lists from the address. Throws an ImportError. */
const readDocument = async (program: Program, source: string): Promise<unknown> => {
  const { createDownload, maxBytes, parseExport } = await import('./moving/download.ts');
  const { ImportError } = await import('./moving/documents.ts');
  if (!/^https?:\/\//i.test(source)) {
    const bytes = await readInput(createReadStream(source), maxBytes).catch((error: NodeJS.ErrnoException) => {
      throw new ImportError(explainSystemError(error));
    });
    if (bytes === undefined) throw new ImportError(`the file is larger than ${maxBytes / MiB} MiB`);
    return parseExport(bytes.toString(), 'the file');
  }
  if (!URL.canParse(source)) throw new UsageError('the address is not a URL');
  const key = process.env[otherVariables.importKey]?.trim();
  if (!key) throw new UsageError(`set ${otherVariables.importKey} to a key of the other program`);
  if (!/^[!-~]+$/.test(key)) throw new UsageError(`${otherVariables.importKey} must be printable ASCII`);
  const download = createDownload(new URL(source), toHeaders[program](key));
  switch (program) {
    case 'grafana-oncall':
      return (await import('./moving/grafana-oncall.ts')).downloadGrafanaOnCall(download);
    case 'opsgenie':
      return (await import('./moving/opsgenie.ts')).downloadOpsgenie(download);
    case 'pagerduty':
      return (await import('./moving/pagerduty.ts')).downloadPagerDuty(download);
    case 'goalert':
      return (await import('./moving/goalert.ts')).downloadGoAlert(download);
  }
};

const toShown = ({ action, what, name, detail }: PlannedChange) => ({ action, what, name, detail });

const describePlan = (changes: readonly PlannedChange[], notes: readonly string[]): string =>
  [
    ...changes.map(
      ({ action, what, name, detail }) => `${action} ${what} ${name}${detail === '' ? '' : `: ${detail}`}`,
    ),
    ...notes.map((note) => `not imported: ${note}`),
    ...(changes.length + notes.length === 0 ? ['the export is empty'] : []),
  ]
    .map((line) => `${escapeControls(line)}\n`)
    .join('');

/** Applies the changes one after the other. A failure ends the import, which can be repeated. */
const applyChanges = async ({ askText }: Asking, changes: readonly PlannedChange[]): Promise<number> => {
  const due = changes.filter(({ request }) => request !== undefined);
  let done = 0;
  try {
    for (const { what, name, request } of due) {
      if (!request) continue;
      const { method, path, body } = request;
      await askText(path, { method, body });
      done += 1;
      const { password } = body as { password?: string };
      if (what === 'user') print(`Initial password of ${escapeControls(name)}: ${password}\n`);
    }
  } finally {
    print(`${done} of ${due.length} changes applied.\n`);
  }
  return 0;
};
