import { otherVariables } from '../../../config/names.ts';
import { defineImportCommand } from './command.ts';
import type { Entry } from './documents.ts';
import type { Download } from './download.ts';
import type { OnCallDraft } from './draft.ts';

interface OnCallProgram {
  /** Returns the headers that carry the program's API key. */
  toHeaders(key: string): Record<string, string>;
  load(): Promise<{
    download(download: Download): Promise<unknown>;
    read(document: Entry): OnCallDraft;
    /** Explains how to create a key, if that is unusual. */
    keyAdvice?: string;
  }>;
}

const programs = {
  'grafana-oncall': {
    toHeaders: (key) => ({ authorization: key }),
    load: async () => {
      const { downloadGrafanaOnCall, readGrafanaOnCall } = await import('./grafana-oncall.ts');
      return { download: downloadGrafanaOnCall, read: readGrafanaOnCall };
    },
  },
  opsgenie: {
    toHeaders: (key) => ({ authorization: `GenieKey ${key}` }),
    load: async () => {
      const { downloadOpsgenie, readOpsgenie } = await import('./opsgenie.ts');
      return { download: downloadOpsgenie, read: readOpsgenie };
    },
  },
  pagerduty: {
    toHeaders: (key) => ({ authorization: `Token token=${key}`, accept: 'application/vnd.pagerduty+json;version=2' }),
    load: async () => {
      const { downloadPagerDuty, readPagerDuty } = await import('./pagerduty.ts');
      return { download: downloadPagerDuty, read: readPagerDuty };
    },
  },
  goalert: {
    toHeaders: (key) => ({ authorization: `Bearer ${key}` }),
    load: async () => {
      const { downloadGoAlert, goAlertKeyAdvice, readGoAlert } = await import('./goalert.ts');
      return {
        download: downloadGoAlert,
        read: (document) => readGoAlert(document, new Date()),
        keyAdvice: goAlertKeyAdvice,
      };
    },
  },
} as const satisfies Record<string, OnCallProgram>;
type Program = keyof typeof programs;

export const importOncallCommand = defineImportCommand({
  name: 'import-oncall',
  summary: 'Import people, rotations, overrides and escalation policies of another on-call program.',
  details: [
    'Prints a plan. Nothing changes without --apply; a second import changes nothing.',
    `URL is the address of the program's API; the key is read from ${otherVariables.importKey}. FILE contains the lists of that API in one JSON object, such as {"users": [...], "schedules": [...]}.`,
    'New users are Readers with an initial password, which is printed once. Routing is not imported: set a default policy afterwards.',
  ],
  programs: Object.keys(programs) as Program[],
  plan: async (asking, program, source) => {
    const { readExplained } = await import('./documents.ts');
    const draft = await readExplained(() => readDraft(programs[program], source));
    const { planChanges, readPresent } = await import('./oncall-plan.ts');
    const present = await readPresent(asking);
    const changes = await readExplained(() => planChanges(draft, present, new Date()));
    return { changes, leftOut: draft.notes };
  },
});

/** Reads the file, or downloads the lists from the address. Throws an ImportError if neither works. */
const readDraft = async ({ toHeaders, load }: OnCallProgram, source: string): Promise<OnCallDraft> => {
  const { Entry } = await import('./documents.ts');
  const { isUrl, openDownload, parseExport, readExport } = await import('./download.ts');
  const { download, read, keyAdvice } = await load();
  const document = isUrl(source)
    ? await download(openDownload(source, toHeaders, keyAdvice))
    : parseExport((await readExport(source)).toString(), 'the file');
  return read(new Entry(document, ''));
};
