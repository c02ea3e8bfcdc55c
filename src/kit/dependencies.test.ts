import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/support/random.ts';
import {
  findDependencyProblem,
  listDependencies,
  listDependencyProblems,
  type Thing,
  type ThingRef,
} from './dependencies.ts';

const refs: readonly ThingRef[] = ['watch/a', 'watch/b', 'heartbeat/b', 'heartbeat/c', 'host/c', 'host/d'];
const name = fc.constantFrom(...refs, 'a', 'b', 'c', 'd', 'e', 'host/e');

/** Returns the thing that a name means according to the documentation. */
const toMeant = (text: string): string | undefined =>
  refs.find((ref) => ref === text) ??
  ['watch', 'heartbeat', 'host'].map((kind) => `${kind}/${text}`).find((ref) => refs.includes(ref as ThingRef));

test('dependencies are accepted exactly if their names are known and they form no circle', () => {
  const change = fc.tuple(fc.constantFrom(...refs), fc.uniqueArray(name, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (all) => {
      const things = new Map<ThingRef, Thing>(refs.map((ref) => [ref, { ref }]));
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
        (things.get(from as ThingRef)?.dependsOn ?? []).some((text) => {
          const next = toMeant(text) ?? '';
          if (next === to) return true;
          if (seen.has(next)) return false;
          return reaches(next, to, seen.add(next));
        });
      for (const [ref, dependsOn] of all) {
        const before = things.get(ref) as Thing;
        const problem = findDependencyProblem({ ref, dependsOn }, (each) => things.get(each));
        things.set(ref, { ref, dependsOn });
        const isBad = dependsOn.some((text) => toMeant(text) === undefined) || reaches(ref, ref);
        assert.equal(problem !== undefined, isBad, `${ref} ${JSON.stringify(dependsOn)}: ${problem}`);
        if (isBad) things.set(ref, before);
        for (const each of refs) {
          const found = listDependencies(each, (one) => things.get(one));
          assert.deepEqual(found.toSorted(), refs.filter((one) => reaches(each, one)).toSorted());
        }
      }
    }),
  );
});

test('a circle that was stored in spite of the checks ends the search', () => {
  const find = (ref: string) => ({ dependsOn: ref === 'watch/a' ? ['b'] : ['a', 'b'] });
  assert.deepEqual(listDependencies('watch/a', find), ['watch/b']);
});

test('the problems of all stored dependencies are those found for each entry', () => {
  const stored = fc.tuple(fc.constantFrom(...refs), fc.uniqueArray(name, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.uniqueArray(stored, { selector: ([ref]) => ref, maxLength: 6 }), (all) => {
      const things = all.map(([ref, dependsOn]) => ({ ref, dependsOn }));
      const find = (ref: ThingRef) => things.find((thing) => thing.ref === ref);
      const expected = things.flatMap((thing) => {
        const problem = findDependencyProblem(thing, find);
        return problem === undefined ? [] : [{ thing, problem }];
      });
      assert.deepEqual(listDependencyProblems(things, find), expected);
    }),
  );
});
