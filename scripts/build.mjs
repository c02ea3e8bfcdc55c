import { preparePackage } from './prepare.mjs';

await preparePackage();
