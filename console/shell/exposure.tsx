import '../style/exposure.css';
import { openApi } from '../routes.ts';
import { Icon } from '../ui/icon.tsx';

/** What the server warns about in its OpenAPI document: routes that others can use without a token. */
export const ExposureWarning = () => {
  const warning = openApi.value?.['x-signalbox-warning'];
  if (warning === undefined) return null;
  return (
    <p class="exposure" role="note">
      <Icon name="warning" />
      <span>{warning}</span>
    </p>
  );
};
