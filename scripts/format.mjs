import { prepare, runTool } from './prepare.mjs';

await prepare();
runTool('@biomejs/biome', 'biome', ['check', '--write', '.']);
