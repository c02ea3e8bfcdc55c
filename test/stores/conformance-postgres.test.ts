import { runConformance } from './conformance.ts';

await runConformance('postgres', ['incidents/routes.test.ts', 'silences/alertmanager.test.ts']);
