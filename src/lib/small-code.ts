import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from compiling functions to machine code. Meant for a process that is nearly always idle. Call it early.
 * Gain: 4 MiB of an idle agent's 60 MiB, mostly pages of the compilers, and 5 MiB more since Node.js 22. An agent stores
 * and forwards alerts as fast as with machine code, because most of that time is spent in the kernel.
 */
export const avoidMachineCode = (): void => {
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-sparkplug');
  setFlagsFromString('--no-maglev');
};

/**
 * Keeps the space for new objects at its initial size of 1 MiB. Meant for a process that is nearly always idle. Call it
 * early. Gain: 11 MiB of an agent that has forwarded 16 alerts a second for eight minutes, at the same CPU time.
 */
export const limitNewSpace = (): void => setFlagsFromString('--semi-space-growth-factor=1');
