import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature } from '../feature.ts';
import { createSimpleTaskRoutes } from './routes.ts';
import { type SimpleTask, SimpleTaskSeed } from './schema.ts';

/** A minimal task list of its own: titles that are pending or done. */
export const simpleTasks = defineFeature({
  name: 'simple-tasks',
  profiles: [
    { name: 'simple-tasks', alias: 'L', mounts: ['/simple'], summary: 'a minimal task list', strict: true },
  ],
  settings: {},
  seed: { simpleTasks: SimpleTaskSeed },
  create: ({ records }) => {
    const tasks = ((records['simpleTasks'] ?? []) as SimpleTaskSeed[]).map(toSimpleTask);
    return { profiles: { 'simple-tasks': createSimpleTaskRoutes(tasks) } };
  },
});

const toSimpleTask = ({ id, title, status = 'pending' }: SimpleTaskSeed, index: number): SimpleTask => {
  if (id !== undefined && id !== index + 1) {
    throw new SettingsError([
      `seed record simpleTasks[${index}].id must be ${index + 1}, its place in the list`,
    ]);
  }
  return { id: index + 1, title, status };
};
