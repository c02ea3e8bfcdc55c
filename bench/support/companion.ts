import { once } from 'node:events';

/** Calls the function `start` of a module with arguments, both from a message, and sends what it returns. */
const [{ module, args }] = await once(process, 'message');
const { start } = await import(module);
process.send?.({ result: await start(...args) });
