import { once } from 'node:events';

/** Calls the function `start` of a module, both as given in a message, and sends back the result. */
const [{ module, args }] = await once(process, 'message');
const { start } = await import(module);
process.send?.({ result: await start(...args) });
