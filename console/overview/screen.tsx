import { getMachine } from '../calls/host.ts';
import { isMounted } from '../mounts.ts';
import { Charts } from './charts.tsx';
import { Health } from './health.tsx';
import { Disks, LatestAlerts, TopProcesses } from './lists.tsx';

/** The live machine: what it is doing, and what has gone wrong. */
export const OverviewScreen = () => (
  <div class="overview">
    <Health />
    {isMounted(getMachine) && <Charts />}
    <div class="lists">
      <LatestAlerts />
      <div class="stack">
        <TopProcesses />
        <Disks />
      </div>
    </div>
  </div>
);
