import { isForbidden } from '../api.ts';
import { openIncidents } from '../live/incidents.ts';
import { isMounted } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { AlertChart, DiskChart, MachineCharts } from '../ui/machine-charts.tsx';
import { Failure, Panel } from '../ui/panel.tsx';
import { Health } from './health.tsx';
import { historyError, useHistory } from './history.ts';
import { HostMarks } from './host-marks.tsx';
import { OpenIncidentsPanel } from './incidents.tsx';
import { DiskPanel, LatestAlerts, TopProcesses } from './lists.tsx';
import { RangeChoice, spanChoice } from './range.tsx';

const words = text.overview;

/** Open problems, then the machine's state. */
const OverviewScreen = () => (
  <div class="overview">
    <HostMarks />
    <Health />
    {isMounted('listIncidents') && <OpenIncidentsPanel />}
    {/* Waits for the height of the incidents, so that everything below stays in place. */}
    {isKnown() && (isMounted('getHealth') || isMounted('getHistory') ? <Live /> : <Alerts />)}
  </div>
);

const isKnown = (): boolean => {
  const { value, error } = openIncidents.value;
  return !isMounted('listIncidents') || value !== undefined || error !== undefined;
};

const Alerts = () => (isMounted('listAlerts') ? <LatestAlerts /> : null);

const Live = () => {
  const span = spanChoice.read();
  const samples = useHistory(span);
  const error = historyError.value;
  const hasAlerts = isMounted('listAlerts');
  if (error && isForbidden(error)) {
    return (
      <>
        <div class="lists">
          {hasAlerts && <LatestAlerts />}
          <TopProcesses />
        </div>
        <Panel title={words.charts}>
          <Failure error={error} onRetry={() => undefined} />
        </Panel>
      </>
    );
  }
  return (
    <>
      {hasAlerts && (
        <div class="lists">
          <LatestAlerts />
          {isMounted('getHistory') && (
            <div class="stack">
              <AlertChart samples={samples} span={span} />
              <DiskChart samples={samples} span={span} />
            </div>
          )}
        </div>
      )}
      {error?.problem === 'shape' && <p class="failure">{error.message}</p>}
      <MachineCharts samples={samples} span={span} />
      <div class="lists">
        <TopProcesses />
        <DiskPanel />
      </div>
    </>
  );
};

export const overviewView: ScreenView = { Screen: OverviewScreen, Aside: RangeChoice };
