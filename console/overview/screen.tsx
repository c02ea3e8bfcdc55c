import { isMounted } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { AlertChart, DiskChart, MachineCharts, RangeChoice, readSpan } from './charts.tsx';
import { Health } from './health.tsx';
import { useHistory } from './history.ts';
import { OpenIncidentsPanel } from './incidents.tsx';
import { Disks, LatestAlerts, TopProcesses } from './lists.tsx';

/** What has gone wrong, and then what the machine is doing. */
const OverviewScreen = () => (
  <div class="overview">
    <Health />
    {isMounted('listIncidents') && <OpenIncidentsPanel />}
    {isMounted('getHealth') || isMounted('getHistory') ? <Live /> : <Alerts />}
  </div>
);

const Alerts = () => (isMounted('listAlerts') ? <LatestAlerts /> : null);

const Live = () => {
  const span = readSpan();
  const samples = useHistory(span);
  const hasAlerts = isMounted('listAlerts');
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
      <MachineCharts samples={samples} span={span} />
      <div class="lists">
        <TopProcesses />
        <Disks />
      </div>
    </>
  );
};

export const overviewView: ScreenView = { Screen: OverviewScreen, Aside: RangeChoice };
