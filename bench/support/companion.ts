import { once } from 'node:events';

/** Calls the function `start` of a module. Module and arguments come from a message. Sends back the result. */
const [{ module, args }] = await once(process, 'message');
const { start } = await import(module);
process.send?.({ result: await start(...args) });
