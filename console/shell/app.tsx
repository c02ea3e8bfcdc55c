import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { toCount } from '../format.ts';
import { useFilledLists } from '../live/filled-lists.ts';
import { useKnownHosts } from '../live/hosts.ts';
import { openIncidents, useOpenIncidents } from '../live/incidents.ts';
import { useStatus } from '../live/status.ts';
import { place } from '../router.ts';
import { isMounted } from '../routes.ts';
import type { Screen } from '../screen.ts';
import { findAvailable, listScreens } from '../screens.ts';
import { logOut, openLogin, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Palette, type PaletteCommand, useCommands } from '../ui/palette.tsx';
import { Empty, Skeleton } from '../ui/panel.tsx';
import { ExposureWarning } from './exposure.tsx';
import { Header, nextTheme, OfflineBanner } from './header.tsx';
import { Help, isHelpOpen } from './help.tsx';
import { LoginDialog } from './login.tsx';
import { Navigation } from './navigation.tsx';
import { findView, loadView } from './views.ts';

/** Frame of the console around the current screen. */
export const ConsoleApp = () => {
  const { path, rest } = place.value;
  const screens = listScreens();
  const screen = findAvailable(path);
  useScreenCommands(screens);
  useStatus();
  useOpenIncidents();
  useFilledLists();
  useKnownHosts();
  const isMoved = useRef(false);
  useLayoutEffect(() => {
    scrollTo(0, 0);
    // Screen readers announce the new heading, and Tab continues from there. If the new screen shows a dialog, the
    // dialog takes the focus itself.
    if (isMoved.current && !document.querySelector('dialog[open]')) {
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    }
    isMoved.current = true;
  }, [path]);
  const open = openIncidents.value.value?.total ?? 0;
  useLayoutEffect(() => {
    const count = open > 0 ? `(${toCount(open)}) ` : '';
    document.title = `${count}${screen?.title ?? text.unknownScreen} · ${text.name}`;
  }, [path, open]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        {text.skip}
      </button>
      <Header />
      <Navigation screens={screens} path={path} />
      <main tabIndex={-1} key={path}>
        <ExposureWarning />
        {screen ? <View screen={screen} rest={rest} /> : <UnknownScreen />}
      </main>
      <OfflineBanner />
      <LoginDialog />
      <Palette />
      <Help />
    </>
  );
};

const View = ({ screen, rest }: { screen: Screen; rest: string }) => {
  const view = findView(screen);
  useEffect(() => void loadView(screen), [screen]);
  const isLoaded = view !== undefined && view !== 'failed';
  return (
    <Boundary>
      <div class="heading">
        <h1 tabIndex={-1}>{screen.title}</h1>
        {isLoaded && view.Aside && <view.Aside />}
      </div>
      {isLoaded && <view.Screen rest={rest} />}
      {view === undefined && <Skeleton lines={16} />}
      {view === 'failed' && (
        <div class="failure" role="alert">
          <p>{text.errors.screen}</p>
          <button type="button" onClick={() => void loadView(screen)}>
            {text.retry}
          </button>
        </div>
      )}
    </Boundary>
  );
};

const UnknownScreen = () => (
  <>
    <h1 tabIndex={-1}>{text.unknownScreen}</h1>
    <Empty title={text.unknownScreenHint}>
      <a href="#/">{text.toOverview}</a>
    </Empty>
  </>
);

const logInCommand: PaletteCommand = { title: text.login.action, icon: 'user', run: openLogin };
const logOutCommand: PaletteCommand = { title: text.login.out, icon: 'user', run: logOut };

const useScreenCommands = (screens: ReturnType<typeof listScreens>): void => {
  const commands = [
    ...screens.map(({ title, icon, key, path }) => ({
      title: text.palette.goTo(title),
      icon,
      keys: `g ${key}`,
      run: () => {
        location.hash = path;
      },
    })),
    { title: text.theme.label, icon: 'auto' as const, run: nextTheme },
    {
      title: text.keys.open,
      icon: 'keyboard' as const,
      keys: '?',
      run: () => {
        isHelpOpen.value = true;
      },
    },
    ...(isMounted('login') ? [session.value ? logOutCommand : logInCommand] : []),
  ];
  useCommands(commands, [screens.map(({ path }) => path).join(), session.value]);
};

/** Shows an unexpected error in place of a screen. The rest of the page keeps working. */
class Boundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: undefined };
  static override getDerivedStateFromError = (error: unknown) => ({ error });
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div class="failure" role="alert">
        <p class="strong">{text.errors.crashed}</p>
        <p>{String(this.state.error)}</p>
        <button type="button" onClick={() => this.setState({ error: undefined })}>
          {text.retry}
        </button>
      </div>
    );
  }
}
