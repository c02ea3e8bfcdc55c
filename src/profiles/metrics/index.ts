import Type from 'typebox';
import { createMetricsText, textType } from '../../metrics/text.ts';
import { defineFeature } from '../feature.ts';
import { defineRoute } from '../route.ts';
import { addHostMeters } from './host-meters.ts';

/** Everything that is measured, for Prometheus and programs that read its text format. */
export const metrics = defineFeature({
  name: 'metrics',
  profiles: [{ name: 'metrics', mounts: ['/'], summary: 'measurements for Prometheus' }],
  settings: {},
  create: ({ meters, host, version, nodeVersion }) => {
    meters.reading(
      'gauge',
      'signalbox_build_info',
      'Always 1; the labels have the versions.',
      () => [[[version, nodeVersion], 1]],
      ['version', 'node_version'],
    );
    addHostMeters(meters, host);
    const write = createMetricsText(meters.list);
    return {
      profiles: {
        metrics: [
          defineRoute({
            method: 'GET',
            path: '/metrics',
            access: 'open',
            scope: 'metrics:read',
            summary: 'Report all measurements in the text format of Prometheus',
            schema: {
              operationId: 'getMetrics',
              response: { 200: { content: { 'text/plain': { schema: MetricsText } } } },
            },
            handler: async (_request, reply) => reply.type(textType).send(await write()),
          }),
        ],
      },
    };
  },
});

const MetricsText = Type.String({ examples: ['process_cpu_seconds_total 1.25'] });
