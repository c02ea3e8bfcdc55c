import '../style/exposure.css';
import { openApi } from '../routes.ts';
import { Icon } from '../ui/icon.tsx';

/** Warnings from the server's OpenAPI document, such as routes without authentication or paused notifications. */
export const ExposureWarning = () => {
  const warnings = openApi.value?.['x-signalbox-warning']?.split('\n') ?? [];
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} class="exposure" role="note">
          <Icon name="warning" />
          <span>{warning}</span>
        </p>
      ))}
    </>
  );
};
