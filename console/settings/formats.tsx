import type { IntakeFormat } from 'signalbox/client';
import { client, userClient } from '../api.ts';
import { toIfMatch } from '../live/conditional.ts';
import { settingTexts as words } from '../strings/settings.ts';
import type { Column } from '../ui/table.tsx';
import { FormatForm } from './format-form.tsx';
import { FormatTrial } from './format-trial.tsx';
import { Section } from './section.tsx';

const toPath = ({ name }: IntakeFormat): string => `/api/alert/${name}`;

const columns: Column<IntakeFormat>[] = [
  { key: 'path', title: words.path, width: '16rem', cell: (format) => <bdi>{toPath(format)}</bdi> },
  { key: 'makes', title: words.makes, isMinor: true, cell: ({ definition }) => <bdi>{definition.message}</bdi> },
];

/** Formats that map custom webhook payloads to alerts. */
export const FormatsSection = () => (
  <Section
    kind="formats"
    load={(signal) => client.listIntakeFormats(undefined, { signal })}
    columns={columns}
    describe={toPath}
    toFacts={(format) => [
      [words.path, toPath(format)],
      [words.definition, JSON.stringify(format.definition, undefined, 2)],
    ]}
    Form={FormatForm}
    createRoute="putIntakeFormat"
    isChangeable
    remove={(format) => userClient.deleteIntakeFormat({ intakeFormat: format.name }, toIfMatch(format))}
    More={({ name }) => <FormatTrial name={name} />}
  />
);
