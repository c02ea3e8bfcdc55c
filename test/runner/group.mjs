import { before, test } from 'node:test';

/** Loads the test files of a group. Their tests begin once all are loaded, because loading would delay them. */
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
