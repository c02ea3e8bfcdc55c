import { chromium } from '@playwright/test';
const [,, base, ...jobs] = process.argv;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu','--disable-background-networking'] });
const login = async (page) => {
  await page.getByRole('button', { name: 'Log in' }).first().click();
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill('secret1');
  await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
  await page.waitForTimeout(500);
};
for (const job of jobs) {
  const [name, width, path, opts=''] = job.split(',');
  const page = await browser.newPage({ viewport: { width: Number(width), height: Number(width) < 500 ? 780 : 900 }, colorScheme: opts.includes('dark') ? 'dark' : 'light' });
  const errors = [];
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
  page.on('pageerror', (e) => errors.push(String(e)));
  await page.goto(`${base}/console/#/tasks`);await page.waitForTimeout(1200);if (opts.includes('login')) await login(page);await page.evaluate((p)=>{location.hash=p}, path);
  await page.waitForTimeout(1500);

  await page.waitForTimeout(800);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await page.screenshot({ path: `/tmp/w/shots/${name}.png` });
  console.log(name, 'overflow', over, await page.title(), errors.join(' | '));
  await page.close();
}
await browser.close();
