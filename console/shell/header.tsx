import { now } from '../clock.ts';
import { toClock, toDuration } from '../format.ts';
import { lastContact, liveState } from '../live/live.ts';
import { type Theme, theme, zoneChoice } from '../preferences.ts';
import { isMounted } from '../routes.ts';
import { logOut, openLogin, session } from '../session.ts';
import { text } from '../strings/index.ts';
import { Icon } from '../ui/icon.tsx';
import { isPaletteOpen } from '../ui/palette.tsx';
import { toOffset, zone, zones } from '../zone.ts';

/** Header of all screens: name, connection state, search, theme, session. */
export const Header = () => (
  <header class="top">
    <a class="brand" href="#/">
      <img src="favicon.svg" alt="" width="22" height="22" />
      <span>{text.name}</span>
    </a>
    <Connection />
    <span class="space" />
    <button
      type="button"
      class="quiet"
      onClick={() => {
        isPaletteOpen.value = true;
      }}
    >
      <Icon name="search" />
      <span class="unseen">{text.palette.open}</span>
      <kbd class="wide-only">Ctrl K</kbd>
    </button>
    <ZoneButton />
    <ThemeButton />
    <SessionButton />
  </header>
);

const Connection = () => (
  <p
    class={`connection ${liveState.value}`}
    title={`${text.states[liveState.value]}. ${text.lastSeen(toClock(lastContact.value))}`}
  >
    <span class="lamp" aria-hidden="true" />
    <span class="words">{text.shortStates[liveState.value]}</span>
  </p>
);

/** Banner shown over the page while the server is unreachable. As an overlay, it leaves the content in place. */
export const OfflineBanner = () => (
  <div class="offline-place" role="status">
    {(liveState.value === 'offline' || liveState.value === 'stale') && (
      <p class="offline">
        <Icon name="warning" />
        <span>
          {text.states[liveState.value]}
          <small>{text.lastSeen(toClock(lastContact.value))}</small>
        </span>
      </p>
    )}
  </div>
);

const themes: Theme[] = ['auto', 'light', 'dark'];

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'auto';
};

const ThemeButton = () => (
  <button
    type="button"
    class="quiet"
    aria-label={`${text.theme.label}: ${text.theme[theme.value]}`}
    title={text.theme[theme.value]}
    onClick={nextTheme}
  >
    <Icon name={theme.value} />
  </button>
);

/** Displays the time zone and lets the user change it. */
const ZoneButton = () => {
  const { browser, server } = zones.value;
  const name = (each: string) => `${each}, ${toOffset(each, now())}`;
  const offset = toOffset(zone.value, now());
  return (
    <>
      <button
        type="button"
        class="quiet zone"
        popovertarget="zone"
        aria-label={text.zone.label(name(zone.value))}
        title={text.zone.label(name(zone.value))}
      >
        <Icon name="clock" />
        <span>{offset}</span>
      </button>
      <div id="zone" popover="auto" class="menu">
        {server === undefined ? (
          <p>{text.zone.label(name(browser))}</p>
        ) : (
          <fieldset>
            <legend class="strong">{text.zone.title}</legend>
            {(
              [
                ['browser', browser],
                ['server', server],
              ] as const
            ).map(([each, named]) => (
              <label key={each}>
                <input
                  type="radio"
                  name="zone"
                  checked={zoneChoice.value === each}
                  onChange={() => {
                    zoneChoice.value = each;
                  }}
                />
                <span>
                  {text.zone[each]}
                  <small class="hint">{name(named)}</small>
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </div>
    </>
  );
};

const SessionButton = () => {
  if (!isMounted('login')) return null;
  if (!session.value) {
    return (
      <button type="button" class="session" onClick={openLogin}>
        <Icon name="user" /> {text.login.action}
      </button>
    );
  }
  const { name, role, expiresAt } = session.value;
  const left = Math.max(0, (expiresAt - now()) / 1000);
  return (
    <>
      <button
        type="button"
        class="quiet session"
        popovertarget="session"
        aria-label={text.login.as(name, role)}
        title={text.login.ends(toDuration(left))}
      >
        <Icon name="user" />
        <span class="wide-only">{name}</span>
        {left < 300 && <span class="countdown">{toDuration(left)}</span>}
      </button>
      <div id="session" popover="auto" class="menu">
        <p class="strong">{text.login.as(name, role)}</p>
        <p class="hint">{text.login.ends(toDuration(left))}</p>
        <button type="button" onClick={logOut}>
          {text.login.out}
        </button>
      </div>
    </>
  );
};
