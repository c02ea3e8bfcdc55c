import '../style/exposure.css';
import { openApi } from '../routes.ts';
import { Icon } from '../ui/icon.tsx';

/** Warnings of the server in its OpenAPI document: routes that need no token, notifications that are not sent. */
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
