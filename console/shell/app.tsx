import { Component, type ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { isMounted } from '../mounts.ts';
import { place } from '../router.ts';
import type { Screen } from '../screen.ts';
import { listScreens } from '../screens.ts';
import { isLoginOpen, logOut, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { type Command, Palette, useCommands } from '../ui/palette.tsx';
import { Empty } from '../ui/panel.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Header, nextTheme, OfflineBanner } from './header.tsx';
import { Help, isHelpOpen } from './help.tsx';
import { Login, login } from './login.tsx';

/** The console around the present screen. */
export const App = () => {
  const { path, rest } = place.value;
  const screens = listScreens();
  const screen = screens.find((each) => each.path === path);
  useScreenCommands(screens);
  useLayoutEffect(() => {
    document.title = `${screen?.title ?? text.unknownScreen} · ${text.name}`;
    scrollTo(0, 0);
    // In narrow windows the links are one row that scrolls. scrollIntoView would also move where Tab starts.
    const link = document.querySelector<HTMLElement>('nav.screens [aria-current]');
    link?.parentElement?.scrollTo({ left: link.offsetLeft - link.offsetWidth });
  }, [screen?.title]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        {text.skip}
      </button>
      <Header />
      <Navigation screens={screens} path={path} />
      <main tabIndex={-1} key={path}>
        {screen ? (
          <Boundary>
            <div class="heading">
              <h1>{screen.title}</h1>
              {screen.Aside && <screen.Aside />}
            </div>
            <screen.Screen rest={rest} />
          </Boundary>
        ) : (
          <UnknownScreen />
        )}
      </main>
      <OfflineBanner />
      <Toasts />
      <Login />
      <Palette />
      <Help />
    </>
  );
};

const Navigation = ({ screens, path }: { screens: Screen[]; path: string }) => (
  <nav class="screens" aria-label={text.screens}>
    {screens.map((each) => (
      <a key={each.path} href={`#${each.path}`} aria-current={each.path === path ? 'page' : undefined}>
        <Icon name={each.icon} />
        <span>{each.title}</span>
      </a>
    ))}
    <a class="outward" href="../docs/">
      <Icon name="reference" />
      <span>{text.reference}</span>
    </a>
  </nav>
);

const UnknownScreen = () => (
  <>
    <h1>{text.unknownScreen}</h1>
    <Empty title={text.unknownScreenHint}>
      <a href="#/">{text.toOverview}</a>
    </Empty>
  </>
);

const logInCommand: Command = {
  ...{ title: text.login.action, icon: 'user' },
  run: () => {
    isLoginOpen.value = true;
  },
};
const logOutCommand: Command = { title: text.login.out, icon: 'user', run: logOut };

const useScreenCommands = (screens: Screen[]): void => {
  const commands = [
    ...screens.map(({ title, icon, key, path }) => ({
      ...{ title: text.palette.goTo(title), icon, keys: `g ${key}` },
      run: () => {
        location.hash = path;
      },
    })),
    { title: text.theme.label, icon: 'auto' as const, run: nextTheme },
    {
      ...{ title: text.keys.open, icon: 'keyboard' as const, keys: '?' },
      run: () => {
        isHelpOpen.value = true;
      },
    },
    ...(isMounted(login) ? [session.value ? logOutCommand : logInCommand] : []),
  ];
  useCommands(commands, [screens.map(({ path }) => path).join(), session.value]);
};

/** Shows an unexpected error of a screen in its place; the rest of the page goes on. */
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
