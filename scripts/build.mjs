import { prepareProgram } from './prepare.mjs';

await prepareProgram();
