import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from compiling functions to machine code, for a process that is idle nearly always; call it early. Gain: 4 MiB
 * of an idle agent's 60 MiB, most of which are pages of the compilers. An agent stores and forwards alerts as fast as
 * without, because that takes more time in the kernel.
 */
export const avoidMachineCode = (): void => {
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-sparkplug');
};
