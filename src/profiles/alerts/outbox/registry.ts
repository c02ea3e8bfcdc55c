import type { Snapshot } from '../../../storage/snapshot.ts';

/** The destinations whose progress is kept, so those that are removed while the server is off are known, too. */
export interface Registry {
  /** Takes over the names of the settings. Others are retired, and known until `retire` resolves to true. */
  update(names: readonly string[], retire: (name: string) => Promise<boolean>): Promise<void>;
}

export const openRegistry = async (file: Snapshot): Promise<Registry> => {
  let known = parse(await file.read());
  return {
    update: async (names, retire) => {
      const left: string[] = [];
      for (const name of known) if (!names.includes(name) && !(await retire(name))) left.push(name);
      const next = [...names, ...left];
      // A registry that is not written is used until the restart.
      if (next.join() !== known.join()) await file.write(Buffer.from(JSON.stringify(next))).catch(() => undefined);
      known = next;
    },
  };
};

const parse = (bytes: Buffer | undefined): string[] => {
  try {
    const names: unknown = JSON.parse(String(bytes));
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
};
