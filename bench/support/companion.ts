import { once } from 'node:events';

/** Calls the function `start` of a module with arguments, both taken from a message, and sends its result. */
const [{ module, args }] = await once(process, 'message');
const { start } = await import(module);
process.send?.({ result: await start(...args) });
