import { Agent, request } from 'node:http';

export interface LoginAnswer {
  status: number;
  retryAfter: string | undefined;
  json: Record<string, unknown>;
}

/** A client at one of this machine's addresses, with so many connections. */
export const createLoginClient = (url: string, localAddress: string, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, localAddress });
  const send = (method: string, path: string, body?: object): Promise<LoginAnswer> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: response.headers['retry-after'],
            json: JSON.parse(text),
          }),
        );
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  return {
    get: (path: string) => send('GET', path),
    login: (Username: string, Password: string) => send('POST', '/api/auth/login', { Username, Password }),
    close: () => agent.destroy(),
  };
};
