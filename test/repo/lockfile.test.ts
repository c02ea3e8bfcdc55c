import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from './support/documents.ts';

interface Package {
  version?: string;
  resolved?: string;
  /** True for a folder in this repository. */
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, Package> };

/**
 * True if Node would find a dependency of the package at a path, either in the package's own folder or in a folder
 * above.
 */
const isLocked = (path: string, name: string): boolean => {
  const below = path === '' ? '' : `${path}/`;
  if (packages[`${below}node_modules/${name}`]?.version !== undefined) return true;
  return path !== '' && isLocked(path.replace(/(^|\/)(node_modules\/(@[^/]+\/)?)?[^/]+$/, ''), name);
};

test('the lockfile has no second router or token library', () => {
  const unwanted = ['fast-jwt', 'express', '@fastify/express', '@fastify/middie', 'jsonwebtoken'];
  const found = Object.keys(packages).filter((path) => unwanted.some((name) => path.endsWith(`node_modules/${name}`)));
  assert.deepEqual(found, []);
});

test('the lockfile has an entry for every package it refers to, including packages for other systems', () => {
  const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(path, name))
      .map((name) => `${name} of ${path}`),
  );
  assert.deepEqual(missing, []);
});

test('the lockfile names no registry', () => {
  const bound = Object.entries(packages).filter(([, { resolved, link }]) => resolved !== undefined && !link);
  assert.deepEqual(bound, []);
});
