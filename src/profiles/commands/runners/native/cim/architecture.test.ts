import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressWidthOf, numberOf, systemTypeOf } from './architecture.ts';

test('architectures have the width, number and type that Windows gives them', () => {
  const cases = [
    ['x64', 64, 9, 'x64-based PC'],
    ['arm64', 64, 12, 'ARM64-based PC'],
    ['ia32', 32, 0, 'X86-based PC'],
    ['riscv64', 64, null, 'riscv64'],
  ] as const;
  for (const [name, width, number, type] of cases) {
    assert.deepEqual([addressWidthOf(name), numberOf(name), systemTypeOf(name)], [width, number, type]);
  }
});
