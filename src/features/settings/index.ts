import { type Concern, defineFeature } from '../../kit/feature.ts';
import { createBrokenRoutes } from './broken-routes.ts';
import { openRuntimeSettings } from './open-settings.ts';
import { createAuditRoute } from './routes.ts';
import type { BrokenSetting } from './store.ts';
import { settingsTransfer } from './transfer.ts';

/** Feature for runtime settings and the audit of their changes. */
export const runtimeSettings = defineFeature({
  name: 'settings',
  profiles: [{ name: 'settings', aliases: ['incidents'], mounts: ['/'], summary: 'audit of runtime settings' }],
  settings: {},
  transfer: settingsTransfer,
  create: async (parts) => {
    const { changes, store, listDamages, close } = await openRuntimeSettings(parts);
    return {
      profiles: { settings: [createAuditRoute(changes, store), ...createBrokenRoutes(store)] },
      offers: { settings: store },
      findConcerns: () => [
        ...listDamages().map(toConcern),
        ...store.listBroken().slice(0, maxShown).map(describeBroken),
      ],
      isReady: () => store.isReady(),
      close,
    };
  },
});

/** Maximum number of unreadable settings listed in the status. */
const maxShown = 20;

const describeBroken = ({ kind, name, reason }: BrokenSetting): Concern => ({
  area: 'stores',
  severity: 'ERROR',
  text: `The ${kind} ${name} cannot be read and has no effect: ${reason}`,
});

const toConcern = (damage: string): Concern => ({
  area: 'stores',
  severity: 'ERROR',
  text: `The log of settings is damaged, so some changes are missing: ${damage}`,
});
