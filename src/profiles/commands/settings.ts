import Type from 'typebox';

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
  auditRetainBytes: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'How many bytes of closed audit files to keep; 0 keeps all.',
  }),
  auditRetainDays: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'For how many days to keep a closed audit file; 0 keeps all.',
  }),
};
