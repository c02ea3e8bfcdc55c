import { runConformance } from './conformance.ts';

await runConformance('file');
