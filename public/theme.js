// Applies the theme chosen in the console before the page is drawn. Without a choice, the system's setting applies.
try {
  const { theme } = JSON.parse(localStorage.getItem('signalbox-preferences') ?? '{}');
  document.documentElement.dataset.theme = theme ?? 'auto';
} catch {
  // Storage is off or holds something else.
}
