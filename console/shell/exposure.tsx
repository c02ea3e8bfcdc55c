import '../style/exposure.css';
import { serverFacts } from '../routes.ts';
import { Icon } from '../ui/icon.tsx';

/** Warnings from the server, such as routes without authentication or paused notifications. */
export const ExposureWarning = () => {
  const warnings = serverFacts.warning?.split('\n') ?? [];
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
