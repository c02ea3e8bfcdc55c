/** Returns a request made of these lines. Each character is one byte. */
export const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`;

/** Returns a GET of the path, with further header lines. */
export const get = (path: string, ...headers: string[]): string =>
  lines(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers);

/** Returns the head of a POST that creates a task. */
export const post = (...headers: string[]): string => lines('POST /api/tasks HTTP/1.1', 'Host: localhost', ...headers);

/** Returns a body that creates a task with this title. */
export const task = (title: string): string => JSON.stringify({ Title: title });

/** Returns the body as one chunk, followed by the last chunk. */
export const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Complete request that creates a task. No test may find this task. */
export const hidden = `${post('Content-Length: 20')}{"Title":"smuggled"}`;
