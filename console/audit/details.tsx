import type { Execution } from 'signalbox/client';
import { toCount, toFull } from '../format.ts';
import { goTo, place } from '../router.ts';
import { text } from '../strings/index.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { type Fact, Facts } from '../ui/facts.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty } from '../ui/panel.tsx';
import { toExecutionLine } from './filter.ts';
import { ResultChip, toExecutionTime } from './rows.tsx';

const words = text.audit;

/** Dialog with all fields of a command in the audit. */
export const ExecutionDialog = ({ execution }: { execution: Execution | undefined }) => (
  <Dialog title={words.details} kind="drawer" onClose={() => goTo('/audit', place.value.params)}>
    {execution ? <Details execution={execution} /> : <Empty title={words.missing} hint={words.missingHint} />}
  </Dialog>
);

const Details = ({ execution }: { execution: Execution }) => (
  <article class="alert">
    <p class="alert-head">
      <ResultChip execution={execution} />
      <time dateTime={execution.time}>{toFull(new Date(execution.time))}</time>
    </p>
    <p class="message mono">
      <LongText value={toExecutionLine(execution)} />
    </p>
    {execution.reason !== null && (
      <p>
        <LongText value={execution.reason} />
      </p>
    )}
    <div class="actions">
      <CopyButton label={words.copyCommand} value={() => toExecutionLine(execution)} />
      <CopyButton label={text.alerts.copyJson} value={() => JSON.stringify(execution, null, 2)} />
    </div>
    <Facts facts={toFacts(execution)} />
  </article>
);

const toFacts = ({ user, role, remoteAddress, requestId, durationMs, rows, truncated }: Execution): Fact[] => [
  [words.user, user ?? words.noUser],
  [words.role, role],
  [words.address, remoteAddress],
  [words.duration, toExecutionTime(durationMs)],
  [words.rows, rows === null ? null : [toCount(rows), truncated && words.truncated].filter(Boolean).join(', ')],
  [words.request, requestId],
];
