import type { Page } from 'playwright-core';

/** Collects warnings and errors of the browser console, and uncaught errors. */
export const collectComplaints = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
  });
  return complaints;
};
