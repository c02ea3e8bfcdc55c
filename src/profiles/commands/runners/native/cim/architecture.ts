/** Win32_Processor.Architecture of Node's names; PowerPC's is the same for both widths. */
const numbers: Record<string, number> = { ia32: 0, mips: 1, ppc: 3, ppc64: 3, arm: 5, x64: 9, arm64: 12 };

const systemTypes: Record<string, string> = {
  ia32: 'X86-based PC',
  x64: 'x64-based PC',
  arm: 'ARM-based PC',
  arm64: 'ARM64-based PC',
};

const narrow = ['ia32', 'arm', 'mips', 'mipsel', 'ppc'];

/** Bits of an address on a processor architecture as Node names it. */
export const addressWidthOf = (architecture: string): 32 | 64 => (narrow.includes(architecture) ? 32 : 64);

/** Win32_Processor.Architecture; null where Windows has no number for it. */
export const numberOf = (architecture: string): number | null => numbers[architecture] ?? null;

/** Win32_ComputerSystem.SystemType, or the name as Node has it. */
export const systemTypeOf = (architecture: string): string => systemTypes[architecture] ?? architecture;
