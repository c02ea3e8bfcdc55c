import Type from 'typebox';

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

/** The settings of commands and their audit, with their defaults. */
export const commandSettings = {
  executeAuth: Type.Enum(['admin', 'none'], {
    default: 'admin',
    description: 'Who may run commands: holders of a token with role Admin, or everybody.',
  }),
  commandTimeout: Type.Integer({
    minimum: 1,
    maximum: 50,
    default: 10,
    description: 'Seconds after which a command is ended.',
  }),
  commandRunner: Type.Enum(['auto', 'native', 'powershell'], {
    default: 'auto',
    description: 'What carries out commands; auto is powershell on Windows and native elsewhere.',
  }),
  auditRetainBytes: retention('How many bytes of closed audit files to keep; 0 keeps all.'),
  auditRetainDays: retention('For how many days to keep a closed audit file; 0 keeps all.'),
};
