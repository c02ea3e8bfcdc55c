import { before, test } from 'node:test';

/** Loads a group's test files. Tests begin once all files are loaded, because loading would delay tests. */
export const load = async (files) => {
  let begin;
  before(() => new Promise((resolve) => (begin = resolve)));
  for (const file of files) {
    await import(file).catch((error) => {
      test(`${file} loads`, () => Promise.reject(error));
    });
  }
  begin?.();
};
