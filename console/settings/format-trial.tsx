import { useSignal } from '@preact/signals';
import type { IntakePreview } from 'signalbox/client';
import { userClient } from '../api.ts';
import { toCount } from '../format.ts';
import { useSubmission } from '../live/submission.ts';
import { settingTexts as words } from '../strings/settings.ts';
import { Area, bind } from '../ui/field.tsx';
import { LongText } from '../ui/long-text.tsx';

interface TrialProps {
  name: string;
  /** Definition as typed. Undefined to try the stored definition. */
  definition?: string;
}

/** Parses JSON text. Throws an Error that names the field. */
export const readJson = (label: string, text: string): object => {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new Error(words.badJson(label));
  }
};

/** Shows the alerts that would result from a pasted body. */
export const FormatTrial = ({ name, definition }: TrialProps) => {
  const body = useSignal('');
  const preview = useSignal<IntakePreview | undefined>(undefined);
  const trial = useSubmission(async () => {
    preview.value = undefined;
    preview.value = await userClient.testIntakeFormat({
      intakeFormat: name,
      body: readJson(words.tryBody, body.value),
      ...(definition !== undefined && { definition: readJson(words.definition, definition) as { message: string } }),
    });
  });
  return (
    <>
      <Area label={words.tryBody} hint={words.tryHint} {...bind(body)} />
      <div class="actions">
        <button type="button" aria-disabled={trial.isDisabled} onClick={trial.onSubmit}>
          {words.tryIt}
        </button>
      </div>
      {trial.error && (
        <p class="error" role="alert">
          {trial.error}
        </p>
      )}
      <div class="tested" role="status">
        {preview.value && (
          <div class="note">
            <p>{words.wouldStore(toCount(preview.value.count))}</p>
            <p class="mono">
              <LongText value={JSON.stringify(preview.value.data, undefined, 2)} />
            </p>
          </div>
        )}
      </div>
    </>
  );
};
