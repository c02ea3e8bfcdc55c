import { readdirSync } from 'node:fs';

const folder = new URL('../', import.meta.url);

/** Runs the API tests for stores of records again in this process, with another store. */
export const runConformance = async (store: 'file' | 'postgres', others: readonly string[] = []): Promise<void> => {
  process.env['SIGNALBOX_TEST_STORE'] = store;
  const stored = readdirSync(new URL('conformance/', folder)).filter((name) =>
    /^(tasks|items|simple-tasks|protected|seed).*\.test\.ts$/.test(name),
  );
  for (const path of [...stored.map((name) => `conformance/${name}`), ...others])
    await import(new URL(path, folder).href);
};
