import { alertTexts } from './alerts.ts';
import { auditTexts } from './audit.ts';
import { commandTexts } from './commands.ts';
import { incidentTexts } from './incidents.ts';
import { instanceTexts } from './instances.ts';
import { itemTexts } from './items.ts';
import { notificationTexts } from './notifications.ts';
import { overviewTexts } from './overview.ts';
import { processTexts } from './processes.ts';
import { shellTexts } from './shell.ts';
import { silenceTexts } from './silences.ts';
import { simpleTaskTexts } from './simple-tasks.ts';
import { taskTexts } from './tasks.ts';

/** All strings of the console by screen, except strings of screens that are not part of the first load. */
export const text = {
  ...shellTexts,
  overview: overviewTexts,
  processes: processTexts,
  alerts: alertTexts,
  audit: auditTexts,
  notifications: notificationTexts,
  silences: silenceTexts,
  items: itemTexts,
  incidents: incidentTexts,
  instances: instanceTexts,
  simpleTasks: simpleTaskTexts,
  tasks: taskTexts,
  commands: commandTexts,
};
