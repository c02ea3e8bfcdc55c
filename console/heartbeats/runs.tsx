import type { HeartbeatRun } from 'signalbox/client';
import { toCount } from '../format.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { Chip, type Look } from '../ui/chip.tsx';
import { LongText } from '../ui/long-text.tsx';
import { Empty } from '../ui/panel.tsx';
import { At } from '../ui/time.tsx';
import { toRunTime } from './looks.tsx';

const looks: Record<HeartbeatRun['result'], Look> = {
  running: { tone: 'info', icon: 'play' },
  success: { tone: 'good', icon: 'check' },
  failure: { tone: 'error', icon: 'error' },
  unfinished: { tone: 'warning', icon: 'warning' },
  log: { tone: 'quiet', icon: 'comment' },
};

/** Last runs with their output, newest first. */
export const RunList = ({ runs }: { runs: readonly HeartbeatRun[] }) => {
  if (runs.length === 0) return <Empty title={words.noRuns} hint={words.noRunsHint} />;
  return (
    <ol class="run-list">
      {runs.map((run, index) => (
        <RunItem key={`${run.startedAt ?? run.endedAt}${runs.length - index}`} run={run} />
      ))}
    </ol>
  );
};

const RunItem = ({ run: { result, startedAt, endedAt, durationMs, exitCode, output } }: { run: HeartbeatRun }) => {
  const at = startedAt ?? endedAt ?? '';
  return (
    <li>
      <div class="run-head">
        <At time={at} />
        <Chip {...looks[result]}>{words.results[result]}</Chip>
        <span>{durationMs !== null && toRunTime(durationMs)}</span>
        <span class="hint">{exitCode !== null && exitCode !== 0 && words.exit(toCount(exitCode))}</span>
      </div>
      {output !== null && (
        <details>
          <summary>{words.output}</summary>
          <p class="example mono">
            <LongText value={output} />
          </p>
        </details>
      )}
    </li>
  );
};
