/** Screens that are not part of the first load, in one file, which is smaller than many files. */
export { alertsView } from './alerts/screen.tsx';
export { auditView } from './audit/screen.tsx';
export { commandsView } from './commands/screen.tsx';
export { connectView } from './connect/screen.tsx';
export { heartbeatsView } from './heartbeats/screen.tsx';
export { hostsView } from './hosts/screen.tsx';
export { incidentsView } from './incidents/screen.tsx';
export { instancesView } from './instances/screen.tsx';
export { itemsView } from './items/screen.tsx';
export { notificationsView } from './notifications/screen.tsx';
export { processesView } from './processes/screen.tsx';
export { settingsView } from './settings/screen.tsx';
export { setupView } from './setup/screen.tsx';
export { silencesView } from './silences/screen.tsx';
export { simpleTasksView } from './simple-tasks/screen.tsx';
export { tasksView } from './tasks/screen.tsx';
export { watchesView } from './watches/screen.tsx';
