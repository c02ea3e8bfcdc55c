/** Style sheets. Vite bundles them. */
declare module '*.css';
