const modules = [
  'src/auth',
  'src/http/request',
  'src/features/commands/language',
  'src/features/commands/policy',
  'src/features/commands/values',
  'src/features/tasks/validation',
  'src/storage/journal',
];

/**
 * Configuration for mutation testing of modules whose own tests must detect changes in them. `--mutate 'src/auth/**'`
 * selects a module.
 */
export default {
  mutate: [...modules.map((path) => `${path}{.ts,/**/*.ts}`), '!src/**/*.test.ts'],
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  tap: {
    testFiles: modules.map((path) => `dist/${path}{.test.js,/**/*.test.js}`),
    nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
  },
  coverageAnalysis: 'perTest',
  // One build contains all mutants, and a variable selects the active one. Their types need not be valid.
  buildCommand: 'tsc --noCheck',
  disableTypeChecks: false,
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'coverage', 'data', 'tools/*/node_modules'],
  tempDirName: '.build-mutation',
  cleanTempDir: 'always',
  reporters: ['progress-append-only', 'clear-text'],
  concurrency: 2,
  // Long enough for a busy machine. A mutant that takes longer counts as detected.
  timeoutMS: 10_000,
  thresholds: { high: 95, low: 90, break: 90 },
  allowConsoleColors: false,
};
