import Type, { type Static } from 'typebox';
import { concernAreas } from '../feature.ts';
import { defineShape } from '../route.ts';
import { severities } from '../severity.ts';

const share = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1, examples: [0.42] }), Type.Null()], { description });

export type Status = Static<typeof Status>;
export const Status = defineShape('HealthStatus', {
  status: Type.Enum(['ok', 'attention'], { type: 'string', description: '`ok` if there are no problems.' }),
  time: Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] }),
  problems: Type.Array(
    Type.Object({
      area: Type.Enum([...concernAreas], { type: 'string', description: 'What it is about.' }),
      severity: Type.Enum([...severities], { type: 'string' }),
      text: Type.String({ examples: ['2 critical alerts are firing'] }),
    }),
    { description: 'What needs attention now, the worst first.' },
  ),
  host: Type.Union(
    [
      Type.Object({
        cpu: share('Busy share of all processors, 0 to 1.'),
        memory: share('Share of the memory that is not available to programs.'),
      }),
      Type.Null(),
    ],
    { description: 'Means of the last minute; null before the first reading.' },
  ),
});
