/** A request of these lines; characters are bytes. */
export const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`;

/** A GET of the path, with further header lines. */
export const get = (path: string, ...headers: string[]): string =>
  lines(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers);

/** The head of a POST that makes a task. */
export const post = (...headers: string[]): string => lines('POST /api/tasks HTTP/1.1', 'Host: localhost', ...headers);

/** A body that makes a task with this title. */
export const task = (title: string): string => JSON.stringify({ Title: title });

/** The body as one chunk, in hexadecimal length, and the last one. */
export const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** A whole request that makes a task which no test may find. */
export const hidden = `${post('Content-Length: 20')}{"Title":"smuggled"}`;
