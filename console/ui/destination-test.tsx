import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { userClient } from '../api.ts';
import { useRun } from '../live/run.ts';
import { isAllowed } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';
import { LongText } from './long-text.tsx';

const words = text.notifications;

/** Milliseconds to wait for a receiver. */
const testTimeout = 60_000;
/** Maximum number of characters of a response before it is cut. */
export const mostOfResponse = 300;

/** Button that sends a test to a destination and shows the receiver's response. Other buttons appear next to it. */
export const DestinationTest = ({ name, children }: { name: string; children?: ComponentChildren }) => {
  const tested = useSignal<{ delivered: boolean; response: string } | undefined>(undefined);
  const test = useRun(async () => {
    tested.value = undefined;
    tested.value = await userClient.testDestination({ destination: name }, { timeout: testTimeout });
  });
  return (
    <>
      <div class="actions">
        {children}
        {isAllowed('testDestination') && (
          <IconButton
            icon="notifications"
            label={test.isRunning ? words.testing : words.test}
            name={words.testOf(name)}
            isDisabled={test.isRunning}
            onClick={test.run}
          />
        )}
      </div>
      <div class="tested" role="status">
        {tested.value && <Tested {...tested.value} />}
      </div>
    </>
  );
};

const Tested = ({ delivered, response }: { delivered: boolean; response: string }) => (
  <div class={`note ${delivered ? '' : 'alarm'}`}>
    <p>{delivered ? words.tested : words.testRefused}</p>
    <p class="mono">
      <LongText value={response} most={mostOfResponse} />
    </p>
  </div>
);
