import Type from 'typebox';

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

/** The settings of commands and their audit, with their defaults. */
export const commandSettings = {
  commandTimeout: Type.Integer({
    minimum: 1,
    maximum: 50,
    default: 10,
    description: 'Time limit for a command in seconds.',
  }),
  commandRunner: Type.Enum(['auto', 'native', 'powershell'], {
    default: 'auto',
    description: 'Program that runs commands; auto means powershell on Windows and native elsewhere.',
  }),
  auditRetainBytes: retention('Bytes of closed audit files to keep; 0 keeps all.'),
  auditRetainDays: retention('Days to keep a closed audit file; 0 keeps all.'),
};
