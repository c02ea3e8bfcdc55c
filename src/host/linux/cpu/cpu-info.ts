/** A block of /proc/cpuinfo: what it says of one logical processor. What is not on this machine is null. */
export interface CpuInfo {
  /** The N of `cpuN`. */
  index: number;
  name: string | null;
  manufacturer: string | null;
  socket: number | null;
  mhz: number | null;
  /** On x86 the flag every hypervisor sets for its guests; other architectures do not tell. */
  isGuest: boolean | null;
}

/** Parses the content of /proc/cpuinfo. */
export const parseCpuInfo = (content: string): CpuInfo[] =>
  content
    .split('\n\n')
    .filter((block) => /^processor\s*:/m.test(block))
    .map(parseBlock);

const parseBlock = (block: string): CpuInfo => {
  const textOf = (key: string): string | null =>
    new RegExp(`^${key}[ \\t]*:[ \\t]*(.+)$`, 'm').exec(block)?.[1]?.trim() ?? null;
  const numberOf = (key: string): number | null => {
    const value = textOf(key);
    return value === null ? null : Number(value);
  };
  const flags = textOf('flags');
  return {
    index: Number(textOf('processor')),
    name: textOf('model name'),
    manufacturer: textOf('vendor_id'),
    socket: numberOf('physical id'),
    mhz: numberOf('cpu MHz'),
    isGuest: flags === null ? null : flags.split(' ').includes('hypervisor'),
  };
};
