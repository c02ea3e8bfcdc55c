import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { StatusPage } from 'signalbox/client';
import { settingTexts as words } from '../strings/settings.ts';
import { bind, exact, Field } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';

const texts = words.pages;

/** Colour of pages without colours of their own. */
const usualAccent = '#0a6a50';

/** Maximum length of a logo as a data URL, and the file types that a page accepts. */
const maxLogoLength = 100_000;
const logoTypes = 'image/png,image/jpeg,image/webp,image/svg+xml';

type Looks = Pick<StatusPage, 'logo' | 'colours' | 'timeZone'>;

/** State of the fields for the looks of a page. */
interface LooksDraft {
  timeZone: Signal<string>;
  accent: Signal<string>;
  /** Empty for the same colour on dark screens. */
  accentDark: Signal<string>;
  /** Data URL. Empty for a page without a logo. */
  logo: Signal<string>;
}

export const useLooks = ({ logo = '', colours, timeZone = '' }: Looks): LooksDraft => ({
  timeZone: useSignal(timeZone),
  accent: useSignal(colours?.accent ?? usualAccent),
  accentDark: useSignal(colours?.accentDark ?? ''),
  logo: useSignal(logo),
});

/** Returns the settings, without those that have their defaults. */
export const toLooks = ({ timeZone, accent, accentDark, logo }: LooksDraft): Looks => {
  const [colour, dark, zone] = [accent.value, accentDark.value || accent.value, timeZone.value.trim()];
  const isUsual = colour === usualAccent && dark === usualAccent;
  return {
    ...(zone !== '' && { timeZone: zone }),
    ...(!isUsual && { colours: { accent: colour, ...(dark !== colour && { accentDark: dark }) } }),
    ...(logo.value !== '' && { logo: logo.value }),
  };
};

/** Fields for the time zone, colours and logo of a page. */
export const LooksFields = ({ timeZone, accent, accentDark, logo }: LooksDraft) => (
  <details>
    <summary>{words.more}</summary>
    <div class="more-fields">
      <Field {...exact} label={texts.timeZone} hint={texts.timeZoneHint} {...bind(timeZone)} />
      <Field label={texts.accent} type="color" {...bind(accent)} />
      <Field label={texts.accentDark} type="color" {...bind(accentDark)} value={accentDark.value || accent.value} />
      <LogoField logo={logo} />
    </div>
  </details>
);

const LogoField = ({ logo }: Pick<LooksDraft, 'logo'>) => {
  const id = useId();
  const error = useSignal('');
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const [file] = input.files ?? [];
    if (!file) return;
    const url = await readDataUrl(file).catch(() => '');
    error.value = url === '' ? texts.badLogo : url.length > maxLogoLength ? texts.largeLogo : '';
    if (error.value === '') logo.value = url;
    input.value = '';
  };
  const about = error.value || (logo.value === '' ? texts.logoHint : texts.hasLogo);
  return (
    <div class="field">
      <label for={id}>{texts.logo}</label>
      <input
        id={id}
        type="file"
        accept={logoTypes}
        aria-describedby={`${id}-about`}
        aria-invalid={error.value === '' ? undefined : 'true'}
        onChange={({ currentTarget }) => void choose(currentTarget)}
      />
      <p id={`${id}-about`} class={error.value === '' ? 'hint' : 'error'}>
        {about}
      </p>
      {logo.value !== '' && (
        <div>
          <IconButton
            icon="trash"
            label={texts.removeLogo}
            onClick={() => {
              logo.value = '';
            }}
          />
        </div>
      )}
    </div>
  );
};

const readDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
