import assert from 'node:assert/strict';
import { test } from 'node:test';
import { osTypeOf } from './operating-system.ts';

test('systems have the number that CIM gives them, and null where it gives none', () => {
  assert.deepEqual([osTypeOf('linux'), osTypeOf('win32'), osTypeOf('haiku')], [36, 18, null]);
});
