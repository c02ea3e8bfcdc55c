import './style/colors.css';
import './style/base.css';
import './style/shell.css';
import './style/navigation.css';
import './style/controls.css';
import './style/dialog.css';
import './style/table.css';
import './style/plain-table.css';
import './style/overview.css';
import './style/chart.css';
import './style/hosts.css';
import './style/watches.css';
import './style/availability.css';
import './style/plot.css';
import './style/alerts.css';
import './style/incidents.css';
import './style/notifications.css';
import './style/oncall.css';
import './style/processes.css';
import './style/tasks.css';
import './style/board.css';
import './style/commands.css';
import './style/settings.css';
import './style/media.css';
import { render } from 'preact';
import { transmit } from './api.ts';
import { startIncidentSignals } from './live/incidents.ts';
import { startLive } from './live/live.ts';
import { startPreferences } from './preferences.ts';
import { startRouter } from './router.ts';
import { addSchemas, type OpenApi } from './schemas.ts';
import { restoreSession } from './session.ts';
import { ConsoleApp } from './shell/app.tsx';
import { startRenewal } from './shell/renewal.ts';
import { startShortcuts } from './shell/shortcuts.ts';
import { loadViews } from './shell/views.ts';
import { startToasts } from './ui/toast.tsx';

/** Loads the schemas of responses. The first screens do not wait for them. */
const loadSchemas = async (): Promise<void> => {
  const { data } = await transmit({ method: 'GET', path: '/openapi.json' });
  addSchemas(data as Partial<OpenApi>);
};

const start = (root: Element): void => {
  root.replaceChildren();
  startPreferences();
  startRouter();
  restoreSession();
  startToasts();
  startShortcuts();
  startRenewal();
  startIncidentSignals();
  render(<ConsoleApp />, root);
  void startLive();
  // Until the schemas are loaded, responses are not checked.
  void loadViews()
    .then(loadSchemas)
    .catch(() => undefined);
};

// No top-level await, because modules that are loaded later import this module.
const root = document.getElementById('app');
if (root) start(root);
