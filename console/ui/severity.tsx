import type { AlertEntry } from 'signalbox/client';
import { type Severity, severities } from '../../src/kit/severity.ts';
import { text } from '../strings/index.ts';
import { Chip } from './chip.tsx';

/** Returns the name of a severity's colour, icon and bar. */
export const toTone = (severity: Severity) => severity.toLowerCase() as 'critical' | 'error' | 'warning' | 'info';

/** Severity options, worst first. */
export const severityOptions = severities.map((each): [string, string] => [each, text.alerts.severities[each]]);

export const SeverityChip = ({ severity, isQuiet = false }: { severity: Severity; isQuiet?: boolean }) => (
  <Chip tone={isQuiet ? 'quiet' : toTone(severity)} icon={toTone(severity)}>
    {text.alerts.severities[severity]}
  </Chip>
);

/** Returns the state of an alert. Undefined for an alert that is only informational. */
export const toState = ({ status, resolvedBy }: AlertEntry): 'firing' | 'resolved' | undefined => {
  if (status === 'resolved' || (status === 'firing' && resolvedBy)) return 'resolved';
  return status === 'firing' ? status : undefined;
};

/** Severity of an alert, dimmed if the alert is resolved, and marked if it is a resolution. */
export const AlertChip = ({ alert }: { alert: AlertEntry }) =>
  alert.status === 'resolved' ? (
    <AlertStateChip alert={alert} />
  ) : (
    <SeverityChip severity={alert.severity} isQuiet={toState(alert) === 'resolved'} />
  );

export const AlertStateChip = ({ alert }: { alert: AlertEntry }) => {
  const state = toState(alert);
  if (state === undefined) return null;
  return state === 'resolved' ? (
    <Chip tone="good" icon="check">
      {text.alerts.resolved}
    </Chip>
  ) : (
    <Chip tone={toTone(alert.severity)} icon="firing">
      {text.alerts.firing}
    </Chip>
  );
};
