/** `dataDir` → `data-dir`. */
export const toFlagName = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `dataDir` → `SIGNALBOX_DATA_DIR`. */
export const toVariableName = (key: string): string =>
  `SIGNALBOX_${toFlagName(key).replaceAll('-', '_').toUpperCase()}`;

/** Variables that are no settings: they say where the config file is, and which server commands send alerts to. */
export const otherVariables = { config: 'SIGNALBOX_CONFIG', url: 'SIGNALBOX_URL', key: 'SIGNALBOX_KEY' };
