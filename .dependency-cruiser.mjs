/** Tests. */
const testFiles = '\\.test\\.ts$';

/** Imports go one way: main → cli → app → profiles → http, auth, host, storage. One rule for each folder. */
const rule = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: testFiles, ...from },
  to,
});

export default {
  forbidden: [
    rule(
      'no-circles',
      'A circle means that two modules are one.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    rule(
      'config-knows-only-schemas',
      'Settings are read before anything else exists.',
      { path: '^src/config/' },
      {
        path: '^src/|node_modules',
        pathNot:
          '^src/config/|^src/auth/access\\.ts$|^src/(parse-json|schema-validation|small-file|time-zone|units)\\.ts$|node_modules/typebox',
      },
    ),
    rule(
      'auth-knows-no-routes',
      'Tokens and passwords work without a server; guard.ts alone ties them to requests.',
      { path: '^src/auth/', pathNot: ['^src/auth/guard\\.ts$', testFiles] },
      { path: '^src/|node_modules/(@fastify|fastify)', pathNot: '^src/(auth/|(expected-errors|parse-json)\\.ts$)' },
    ),
    rule(
      'guard-knows-requests',
      'The guard refuses requests, so it knows how refusals look, and nothing else of the service.',
      { path: '^src/auth/guard\\.ts$' },
      { path: '^src/', pathNot: '^src/(auth/|http/errors\\.ts$)' },
    ),
    rule(
      'host-knows-the-machine-alone',
      'Readings come from the system, whoever asks for them.',
      { path: '^src/host/' },
      {
        path: '^src/|node_modules',
        pathNot:
          '^src/(host/|storage/scheduling\\.ts$|(parse-json|slice|units|wildcards)\\.ts$)|node_modules/systeminformation',
      },
    ),
    rule(
      'storage-knows-files-and-databases-alone',
      'A journal stores records, whatever they say; one file knows the driver of the database.',
      { path: '^src/storage/' },
      {
        path: '^src/|node_modules',
        pathNot:
          '^src/(storage/|(expected-errors|network-failures|parse-json|slice|small-file|units)\\.ts$)|node_modules/(@types/)?pg/',
      },
    ),
    rule(
      'driver-in-one-place',
      'Another driver would change one file.',
      { path: '^src/(?!storage/postgres/connection\\.ts$)' },
      { path: 'node_modules/(@types/)?pg/' },
    ),
    rule(
      'http-knows-no-profiles',
      'Plumbing serves every route alike.',
      { path: '^src/http/' },
      {
        path: '^src/',
        pathNot:
          '^src/(http/|metrics/meters\\.ts$|(expected-errors|parse-json|schema-validation|slice|time-zone|units|well-formed)\\.ts$)',
      },
    ),
    rule(
      'metrics-know-numbers-alone',
      'Meters count whatever they are told to.',
      { path: '^src/metrics/' },
      { path: '^src/', pathNot: '^src/metrics/' },
    ),
    rule(
      'profiles-stand-alone',
      'A profile can be deleted with its folder and its line in the list.',
      { path: '^src/profiles/([^/]+)/' },
      {
        path: '^src/',
        pathNot:
          '^src/profiles/$1/|^src/profiles/(feature|route|topic|severity|offers|alert-record|compiled-settings|made-routes|own-members|incident-facts|people|machine|authorities|cron|schedule|due-times|targets|slots|recent-values)\\.ts$|^src/(auth|http|host|metrics|storage)/|^src/config/(names|settings-error)\\.ts$|^src/client/retry-after\\.ts$|^src/(expected-errors|network-failures|parse-json|schema-validation|slice|small-file|time-zone|local-time|units|well-formed|wildcards)\\.ts$',
      },
    ),
    rule(
      'mounts-know-no-profile',
      'Mounts deal with profiles as data.',
      { path: '^src/app/(mounts|access)\\.ts$' },
      {
        path: '^src/',
        pathNot:
          '^src/app/(mounts|access)\\.ts$|^src/(http|auth)/|^src/profiles/(feature|listing|route|topic)\\.ts$|^src/config/settings-error\\.ts$',
      },
    ),
    rule(
      'app-does-not-know-the-program',
      'The app never listens.',
      { path: '^src/app/' },
      { path: '^src/(cli/|main\\.ts$)' },
    ),
    rule(
      'children-start-in-one-place',
      'Child processes start in the runners of the commands profile, for signalbox run, and to ask systemd.',
      { path: '^src/', pathNot: ['^src/((profiles/commands|cli/client)/child|host/linux/systemd)\\.ts$', testFiles] },
      { path: '^(node:)?child_process$' },
    ),
    rule(
      'profiles-write-no-files',
      'Files are written by the journal alone.',
      {
        path: '^src/profiles/',
        pathNot: [testFiles],
      },
      { path: '^(node:)?fs(/promises)?$' },
    ),
    rule(
      'fastify-plugins-live-in-http',
      'Plugins are plumbing.',
      { path: '^src/(?!http/)' },
      { path: 'node_modules/@fastify/(?!type-provider)' },
    ),
    rule(
      'client-stands-alone',
      'It is published as one file and runs in browsers; the build tells it the routes.',
      { path: '^src/client/' },
      { path: '^src/|node_modules|^node:', pathNot: '^src/client/' },
    ),
    rule('server-does-not-know-the-console', 'The console is files to it.', { path: '^src/' }, { path: '^console/' }),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
