import type { ComponentType } from 'preact';
import { toHash } from '../router.ts';
import { isAllowed, type RouteName } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { AboutSection } from './about.tsx';
import { ChangesSection } from './changes.tsx';
import { DestinationsSection } from './destinations.tsx';
import { FormatsSection } from './formats.tsx';
import { KeysSection } from './keys.tsx';
import { PagesSection } from './pages.tsx';
import { PoliciesSection } from './policies.tsx';
import { SessionsSection } from './sessions.tsx';
import { UsersSection } from './users.tsx';
import { WaysSection } from './ways.tsx';

type SectionName = keyof typeof words.sections;

const sections: [name: SectionName, View: ComponentType, needs?: RouteName][] = [
  ['users', UsersSection, 'listUsers'],
  ['keys', KeysSection, 'listKeys'],
  ['destinations', DestinationsSection, 'listDestinations'],
  ['formats', FormatsSection, 'listIntakeFormats'],
  ['policies', PoliciesSection, 'listEscalationPolicies'],
  ['pages', PagesSection, 'listStatusPages'],
  ['ways', WaysSection, 'getPerson'],
  ['sessions', SessionsSection, 'listSessions'],
  ['changes', ChangesSection, 'listSettingChanges'],
  ['about', AboutSection],
];

/** Sections that the user can access. */
const listSections = () => sections.filter(([, , needs]) => needs === undefined || isAllowed(needs));

/** Section of the settings, chosen in the URL. */
const SettingsScreen = ({ rest }: { rest: string }) => {
  const all = listSections();
  const [name, View] = all.find(([each]) => each === rest) ?? all[0] ?? sections[0] ?? [];
  if (!View) return null;
  return (
    <div class="list">
      <nav class="sections" aria-label={words.show}>
        {all.map(([each]) => (
          <a key={each} href={toHash(`/settings/${each}`)} aria-current={each === name ? 'page' : undefined}>
            {words.sections[each]}
          </a>
        ))}
      </nav>
      <View key={name} />
    </div>
  );
};

export const settingsView: ScreenView = { Screen: SettingsScreen };
