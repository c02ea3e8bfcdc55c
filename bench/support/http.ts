import { type Agent, request } from 'node:http';

export interface Answer {
  status: number;
  text: string;
  /** From the first byte sent to the last one received. */
  ms: number;
}

interface Options {
  agent: Agent;
  method?: string;
  body?: object;
}

/** The complete response; undefined if the connection ended early. */
export const send = (url: string, { agent, method = 'POST', body }: Options): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const start = performance.now();
    const sent = request(url, { method, agent, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => {
        const { statusCode = 0, complete } = response;
        resolve(complete ? { status: statusCode, text, ms: performance.now() - start } : undefined);
      });
    });
    sent.on('error', () => resolve(undefined));
    sent.end(body && JSON.stringify(body));
  });
