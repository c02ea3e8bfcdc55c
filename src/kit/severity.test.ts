import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSeverity, type Severity, severities, toSeverity } from './severity.ts';

const spellings: Record<Severity, string[]> = {
  CRITICAL: ['CRITICAL', 'crit', 'Emerg', 'emergency', 'alert', 'FATAL', 'panic', 'page', 'P1', 'p0', 'sev1', '1', '0'],
  ERROR: ['ERROR', 'err', 'major', 'High', 'P2', 'SEV-2', '2'],
  WARNING: ['WARNING', 'WARN', 'warn', ' Warning ', 'minor', 'P3', '3'],
  INFO: ['INFO', 'information', 'informational', 'notice', 'debug', 'none', 'low', 'P4', 'p5', '4', '5'],
};

for (const severity of severities) {
  test(`levels that mean ${severity} have that severity, in any case`, () => {
    for (const level of spellings[severity]) assert.equal(findSeverity(level), severity, level);
  });
}

test('an unknown level has the severity WARNING', () => {
  for (const level of ['', 'warm', 'on fire', '6', '11', 'p', 'criticality', 'constructor']) {
    assert.equal(findSeverity(level), undefined, level);
    assert.equal(toSeverity(level), 'WARNING', level);
  }
});
