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
import { signal } from '@preact/signals';
import { render } from 'preact';
import { ClientError } from '../src/client/send.ts';
import { transmit } from './api.ts';
import { startIncidentSignals } from './live/incidents.ts';
import { startLive } from './live/live.ts';
import { startPreferences } from './preferences.ts';
import { place, startRouter } from './router.ts';
import { type OpenApi, openApi } from './routes.ts';
import { findScreen } from './screens.ts';
import { restoreSession } from './session.ts';
import { ConsoleApp } from './shell/app.tsx';
import { startRenewal } from './shell/renewal.ts';
import { startShortcuts } from './shell/shortcuts.ts';
import { loadView, loadViews } from './shell/views.ts';
import { text } from './strings/index.ts';
import { Skeleton } from './ui/panel.tsx';
import { startToasts } from './ui/toast.tsx';

/** Milliseconds between attempts to load the OpenAPI document. */
const retryEvery = 1000;

const problem = signal('');

const loadOpenApi = async (): Promise<OpenApi> => {
  for (;;) {
    try {
      const { data } = await transmit({ method: 'GET', path: '/openapi.json' });
      const { info, paths } = (data ?? {}) as Partial<OpenApi>;
      if (info && paths) return data as OpenApi;
      problem.value = text.errors.shape('GET /openapi.json', 'response');
    } catch (error) {
      const status = error instanceof ClientError ? error.status : 0;
      problem.value = status > 0 ? text.errors.shape('GET /openapi.json', `status ${status}`) : text.states.offline;
    }
    await new Promise((resolve) => setTimeout(resolve, retryEvery));
  }
};

const Start = () => (
  <main class="start">
    <h1>{text.name}</h1>
    <p role="status">{problem.value || text.loading}</p>
    <Skeleton lines={6} />
  </main>
);

const start = async (root: Element): Promise<void> => {
  root.replaceChildren();
  startPreferences();
  startRouter();
  restoreSession();
  render(<Start />, root);
  const screen = findScreen(place.value.path);
  if (screen) void loadView(screen);
  openApi.value = await loadOpenApi();
  startToasts();
  startShortcuts();
  startRenewal();
  startIncidentSignals();
  render(<ConsoleApp />, root);
  void startLive();
  void loadViews();
};

// No top-level await, because modules that are loaded later import this module.
const root = document.getElementById('app');
if (root) void start(root);
