/** Ids in a path that are invalid or not canonical. */
export const oddIds = [
  ...['0', '-1', '01', '1.0', '1e1', '+1', '%31', '1%20', '%EF%BC%91', '9007199254740993', '1'.repeat(300)],
  ...['abc', '%00', '1%2F2', '..', '%2e%2e', '%', '%zz', '%c0%af', '*', ':id', '{id}', '1;x=2'],
  ...['__proto__', '~', '\xe9'],
];

/** Values for a query parameter that should be a whole number. */
export const oddNumbers = [
  ...['-1', '1.5', '1e3', '+1', '0x10', '%D9%A1', '%201', '1%20', '9'.repeat(400), 'NaN', 'null', '%', '', '3'],
];

export const oddQueries = [
  ...['?', '&', '=', '==', '&&&=&', '%', '%zz=1', 'a[b]=c', 'limit[]=1', 'limit=1&limit=2', 'limit=1,2'],
  ...['__proto__=1', '__proto__[x]=1', 'constructor=1', 'hasOwnProperty=1', 'limit=%00', 'status=%ff%fe'],
  ...['top=1;size=2', '\xff=\xfe', 'x=1&'.repeat(1500), 'level=%ED%A0%80', 'limit', 'count=10001', 'page=0'],
  ...['Limit=x', 'sort=%', '#limit=x', 'limit=1#', 'status=Pending+', 'page=2&size=1&page='],
];

/** Complete targets, and suffixes for other targets. */
export const oddPaths = [
  ...['/', '//', '/*', '*', '', '.', '?', '/.', '/..', '/%', '/%00', '/%2e%2e/', '/\xff', '/api', '/api/'],
  ...['/API/tasks', '/api/tasks/', '//api/tasks', '/api//tasks', '/api/tasks/1/2', '/api/task%73'],
  ...['/api%2Ftasks', '/./api/tasks', 'http://localhost/api/tasks', 'http://evil.example/health'],
  ...['evil.example:80', '/health;x', '/health%3Fx', '/health#', '/openapi.json', '/openapi.json/'],
  ...['/docs', '/docs/', '/docs/index.html', '/docs/none', '/docs/.env', '/docs/../package.json'],
  ...['/docs//etc/passwd', '/docs/%2e%2e/%2e%2e/etc/passwd', '/docs/..%2f..%2fpackage.json', '/docs/%00'],
  ...['/docs/%', '/docs/page.js', '/simple', '/simple/', '/protected', '/favicon.ico', '/api/tasks/\\..\\x'],
  ...[`/${'a'.repeat(3000)}`, `/api/tasks/${'%61'.repeat(2000)}`, `/${'a/'.repeat(3000)}`],
  ...['/api/tasks/1 2', '/a\r\nX: y'],
];
