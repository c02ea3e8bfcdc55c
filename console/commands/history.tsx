import type { ApiError } from '../api.ts';
import { toClock, toCount } from '../format.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Chip } from '../ui/chip.tsx';
import { HostName } from '../ui/host-name.tsx';
import { Icon } from '../ui/icon.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Panel } from '../ui/panel.tsx';
import { isRunning, type Run, runCommand, runs } from './runs.ts';

const words = text.commands;

/** Explains why the last command has no result and what to do. */
export const CommandRefusal = ({ error }: { error: ApiError }) => (
  <div class="failure" role="alert">
    <p class="strong">{isRefusal(error) ? words.refused : words.failed}</p>
    <p>
      <LongText value={error.message} />
    </p>
    <p class="hint">{toHint(error)}</p>
  </div>
);

const isRefusal = ({ status }: ApiError): boolean => status >= 400 && status < 500;

const toHint = ({ status, problem, retryAfter }: ApiError): string => {
  if (status === 403) return session.value?.role === 'Reader' ? words.adminHint : words.refusedHint;
  if (problem === 'login') return words.adminHint;
  if (status === 400 || status === 413) return words.refusedHint;
  if (status === 429 || status === 503) return words.busyHint(toCount(retryAfter ?? 1));
  return status === 500 ? words.failedHint : words.otherHint;
};

/** Commands run in this session, newest first. Each links to its form. */
export const CommandHistory = () => {
  if (runs.value.length === 0) return null;
  return (
    <Panel title={words.history} aside={<span class="hint">{words.historyHint}</span>} kind="command-history">
      <ol>
        {runs.value.map((each) => (
          <li key={each.number}>
            <time dateTime={new Date(each.startedAt).toISOString()}>{toClock(each.startedAt)}</time>
            <a class="mono" href={each.address}>
              <bdi>{each.line}</bdi>
            </a>
            {each.host !== undefined && <HostName hostname={each.host} />}
            <Outcome run={each} />
            <button
              type="button"
              class="quiet"
              aria-label={words.againOf(each.line)}
              title={words.again}
              aria-disabled={isRunning.value}
              onClick={() => void runCommand(each.line, each.address, each.host)}
            >
              <Icon name="repeat" />
            </button>
          </li>
        ))}
      </ol>
    </Panel>
  );
};

const Outcome = ({ run: { outcome, milliseconds } }: { run: Run }) => {
  if (outcome === 'stopped') {
    return (
      <Chip tone="quiet" icon="close">
        {words.stopped}
      </Chip>
    );
  }
  if ('error' in outcome) {
    const isRefused = isRefusal(outcome.error);
    return (
      <Chip tone={isRefused ? 'warning' : 'error'} icon={isRefused ? 'warning' : 'error'}>
        {isRefused ? words.refused : words.failed}
      </Chip>
    );
  }
  return (
    <Chip tone="good" icon="check">
      {words.ran(toCount(outcome.rows), toCount(milliseconds))}
    </Chip>
  );
};
