/** Tests. */
const testFiles = '\\.test\\.ts$';

/**
 * Import rule for a folder. Imports go one way: main → cli → agent → server → features → kit → http, auth, host,
 * storage → lib.
 */
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
      'config-knows-only-schemas',
      'Settings are read before anything else exists.',
      { path: '^src/config/' },
      {
        path: '^src/|node_modules',
        pathNot: '^src/config/|^src/auth/access\\.ts$|^src/lib/|node_modules/typebox',
      },
    ),
    rule(
      'auth-knows-no-routes',
      'Tokens and passwords work without a server; guard.ts alone ties them to requests.',
      { path: '^src/auth/', pathNot: ['^src/auth/guard\\.ts$', testFiles] },
      { path: '^src/|node_modules/(@fastify|fastify)', pathNot: '^src/(auth|lib)/' },
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
        pathNot: '^src/(host|lib)/|node_modules/systeminformation',
      },
    ),
    rule(
      'storage-knows-files-and-databases-alone',
      'A journal stores records, whatever they say; one file knows the driver of the database.',
      { path: '^src/storage/' },
      {
        path: '^src/|node_modules',
        pathNot: '^src/(storage|lib)/|node_modules/(@types/)?pg/',
      },
    ),
    rule(
      'driver-in-one-place',
      'Another driver would change two files.',
      { path: '^src/(?!storage/postgres/(connection|probe)\\.ts$)' },
      { path: 'node_modules/(@types/)?pg/' },
    ),
    rule(
      'http-knows-no-features',
      'Plumbing serves every route alike.',
      { path: '^src/http/' },
      {
        path: '^src/',
        pathNot: '^src/(http/|lib/|metrics/meters\\.ts$)',
      },
    ),
    rule(
      'metrics-know-numbers-alone',
      'Meters count whatever they are told to.',
      { path: '^src/metrics/' },
      { path: '^src/', pathNot: '^src/metrics/' },
    ),
    rule(
      'features-stand-alone',
      'A feature can be deleted with its folder and its line in the list.',
      { path: '^src/features/([^/]+)/' },
      {
        path: '^src/',
        pathNot:
          '^src/features/$1/|^src/(kit|auth|http|host|metrics|storage|lib)/|^src/config/(names|settings-error)\\.ts$|^src/client/retry-after\\.ts$',
      },
    ),
    rule(
      'kit-knows-no-feature',
      'Features share what is in the kit.',
      { path: '^src/kit/' },
      { path: '^src/', pathNot: '^src/(kit|auth|http|host|metrics|storage|lib)/|^src/config/names\\.ts$' },
    ),
    rule(
      'lib-stands-alone',
      'Code that knows nothing of the product.',
      { path: '^src/lib/' },
      { path: '^src/', pathNot: '^src/lib/' },
    ),
    rule(
      'mounts-know-no-feature',
      'Mounts deal with profiles as data.',
      { path: '^src/server/(mounts|access)\\.ts$' },
      {
        path: '^src/',
        pathNot:
          '^src/server/(mounts|access)\\.ts$|^src/(http|auth)/|^src/kit/(feature|listing|route|topic)\\.ts$|^src/lib/loopback\\.ts$|^src/config/settings-error\\.ts$',
      },
    ),
    rule(
      'server-does-not-know-the-program',
      'The server never listens.',
      { path: '^src/server/' },
      { path: '^src/(agent/|cli/|main\\.ts$)' },
    ),
    rule(
      'agents-load-no-server',
      'Without Fastify, pages and the database, an agent takes little memory.',
      { path: '^src/agent/' },
      { path: '^src/(cli/|main\\.ts$|server/create-app\\.ts$|features/[^/]+/(index|routes)\\.ts$)' },
    ),
    rule(
      'children-start-in-one-place',
      'Child processes start for commands and plugins, for signalbox run, to ask systemd, and to ping.',
      {
        path: '^src/',
        pathNot: ['^src/(cli/remote/child|host/(child|linux/systemd|ping))\\.ts$', testFiles],
      },
      { path: '^(node:)?child_process$' },
    ),
    rule(
      'features-write-no-files',
      'Files are written by the journal alone.',
      {
        path: '^src/features/',
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
    rule(
      'screens-stand-alone',
      'A screen can be deleted with its folder and its lines in the lists.',
      { path: '^console/([^/]+)/' },
      {
        path: '^console/[^/]+/',
        pathNot: ['^console/$1/', '^console/(live|shell|strings|style|ui)/'],
      },
    ),
    rule(
      'screens-are-listed',
      'Only the lists of screens import screens.',
      { path: '^console/[^/]+$', pathNot: '^console/(screens|later)\\.ts$' },
      { path: '^console/[^/]+/', pathNot: '^console/(live|shell|strings|style|ui)/' },
    ),
    rule(
      'ui-below-live-below-shell',
      'Shared parts of the console do not know the shell or its screens.',
      { path: '^console/(live|ui)/' },
      { path: '^console/(shell/|screens\\.ts$|later\\.ts$)' },
    ),
    rule(
      'console-bundles-no-server',
      'Types are shared, and files that import nothing; any other code of the server would be sent to browsers.',
      { path: '^console/' },
      {
        path: '^src/',
        pathNot:
          '^src/(client/|kit/(host-names|host-rank|people|severity)\\.ts$|lib/(csv|wildcards)\\.ts$|features/alerts/search/columns\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule('server-does-not-know-the-console', 'The console is files to it.', { path: '^src/' }, { path: '^console/' }),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
