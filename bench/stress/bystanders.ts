import type { Finding } from '../support/finding.ts';
import { type Sample, takeSamples, toP99 } from '../support/probe.ts';
import type { Server } from '../support/server.ts';

/** Clients that send occasional requests, both to the server under attack and to a second, idle one. */
export interface Bystanders {
  /** Sends requests before or after the attack. */
  askIdle(seconds: number): Promise<void>;
  /** Sends requests during the attack. */
  askUnderLoad(seconds: number): Promise<void>;
  toFindings(id: string): Finding[];
}

export const createBystanders = (server: Server, other: Server, path: string): Bystanders => {
  const [url, otherUrl] = [`${server.url}${path}`, `${other.url}${path}`];
  const samples: Record<'idle' | 'meanwhile' | 'beside', Sample[]> = { idle: [], meanwhile: [], beside: [] };
  return {
    askIdle: async (seconds) => {
      const [taken] = await Promise.all([takeSamples(url, seconds), takeSamples(otherUrl, seconds)]);
      samples.idle.push(...taken);
    },
    askUnderLoad: async (seconds) => {
      const sides = [takeSamples(url, seconds), takeSamples(otherUrl, seconds)] as const;
      [samples.meanwhile, samples.beside] = await Promise.all(sides);
    },
    toFindings: (id) => {
      const ours = [toP99(samples.meanwhile, url)];
      const row = { id, unit: ' ms', ours, goals: [{ of: 'ratio' as const, atMost: 2 }] };
      const idle = { name: 'before and after', figures: [toP99(samples.idle, url)] };
      const beside = { name: 'an idle server at the same time', figures: [toP99(samples.beside, otherUrl)] };
      return [
        { ...row, work: `p99 of GET ${path} under load`, beside: idle },
        { ...row, work: `p99 of GET ${path} under load`, beside },
      ];
    },
  };
};
