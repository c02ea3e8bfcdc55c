import { hash } from 'node:crypto';
import type { PageValues } from './page.ts';

/** Style sheet. Bars show 90 days, or the last 45 days on narrow screens. Masks draw the gaps between days. */
const rules = `
:root{color-scheme:light dark;--paper:#f6f7f4;--raised:#fff;--ink:#1b2422;--quiet:#56625f;--line:#dde2de;--good:#0f7a57;
--bar:#2fa37a;--part:#d99a2b;--bad:#c93a30;--work:#4f8fc9;--none:#cbd2cd;--badink:#b3261e;--workink:#1f5f99;--partink:#8a5a00}
@media (prefers-color-scheme:dark){:root{--paper:#101514;--raised:#181f1d;--ink:#e4eae7;--quiet:#a0ada9;--line:#2b3532;
--good:#4fcf9b;--bar:#3fb587;--part:#e0a63c;--bad:#e2594e;--work:#6ba3d6;--none:#36413d;--badink:#ff8a80;--workink:#8fc1ee;
--partink:#e8b557}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere;
border-top:.25rem solid var(--accent)}
main,footer,header{max-width:54rem;margin:0 auto;padding:0 1rem}
header{display:flex;gap:1rem;align-items:center;padding:2rem 1rem 1.25rem}
header img{max-height:3rem;max-width:12rem}
h1{margin:0;font-size:1.5rem;line-height:1.25}
h2{margin:2.25rem 0 .75rem;font-size:1.125rem}
h3,.row h2{margin:0;font-size:1rem}
p{margin:.25rem 0}
.sum{padding:1rem 1.25rem;border-radius:.5rem;font-weight:600;font-size:1.125rem;color:#fff;background:#0f7a57}
.sum.down,.sum.partly{background:#b3261e}
.sum.maintenance{background:#1f5f99}
.sum.unknown{background:#56625f}
.card,ul{margin:0;padding:0;list-style:none;background:var(--raised);border:1px solid var(--line);border-radius:.5rem}
.card{padding:1rem 1.25rem;margin:1rem 0}
.card.open{border-left:.3rem solid var(--part)}
li{padding:.75rem 1.25rem;border-top:1px solid var(--line);break-inside:avoid}
li:first-child{border-top:0}
.row{display:flex;gap:1rem;justify-content:space-between}
.row b{font-weight:600}
.s{white-space:nowrap;font-weight:600;color:var(--quiet)}
.s.up,.s.resolved{color:var(--good)}
.s.down,.s.investigating{color:var(--badink)}
.s.maintenance,.s.monitoring{color:var(--workink)}
.s.identified{color:var(--partink)}
.bar{display:flex;justify-content:flex-end;overflow:hidden;margin:.5rem 0 .25rem}
svg{flex:none;width:100%;height:2rem;display:block;mask:repeating-linear-gradient(90deg,#000 0 calc(76%/90),#0000 0 calc(100%/90));
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.g{fill:var(--bar)}.p{fill:var(--part)}.b{fill:var(--bad)}.w{fill:var(--work)}.n{fill:var(--none)}.t{fill:#0000}
.q,time{color:var(--quiet);font-size:.875rem}
.text{white-space:pre-line}
.few{display:none}
a{color:inherit;text-decoration-color:var(--accent)}
:focus-visible{outline:.15rem solid var(--ink);outline-offset:.15rem}
footer{padding:1.5rem 1rem 3rem}
footer nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin-bottom:.5rem}
input,button{font:inherit;padding:.5rem .75rem;border-radius:.4rem;border:1px solid var(--quiet)}
input{background:var(--raised);color:var(--ink);width:100%;max-width:24rem;margin:.25rem 0 .75rem;display:block}
button{background:var(--ink);color:var(--paper);font-weight:600;cursor:pointer}
@media (max-width:40rem){header{padding:1.25rem 1rem 1rem}.row{flex-wrap:wrap;gap:0 1rem}svg{width:200%}
.row.q>:nth-child(2){order:1;width:100%}.few{display:inline}.many{display:none}li,.card{padding:.75rem 1rem}}
@media print{body{background:#fff;color:#000}.sum{color:#000;background:none;border:2px solid;padding:.5rem 1rem}nav{display:none}
.card,ul{background:none}svg{height:1.25rem}}
`.replaceAll('\n', '');

/** Returns the style sheet with the colours of a page. */
const toStyle = ({ accent = '#0a6a50', accentDark = accent }: NonNullable<Partial<PageValues['colours']>>): string =>
  `:root{--accent:${accent}}@media (prefers-color-scheme:dark){:root{--accent:${accentDark}}}${rules}`;

/**
 * Style sheet with its content security policy. The policy allows only this sheet, images from the server, and forms
 * that are sent to the server.
 */
export interface PageStyle {
  text: string;
  policy: string;
}

export const createPageStyle = (colours: PageValues['colours']): PageStyle => {
  const text = toStyle(colours ?? {});
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', text, 'base64')}'`,
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { text, policy };
};
