import { writeFile } from 'node:fs/promises'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** What went into the page, beside it and not in it: a release tells whose packages it has. */
const partsOfPage: Plugin = {
  name: 'parts-of-page',
  writeBundle: async (_options, bundle) => {
    const sources = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
    await writeFile(new URL('dist/console.map', import.meta.url), JSON.stringify({ sources }))
  },
}

// The console's page: a folder of files that `slipway console` and `slipway demo` serve from memory.
export default defineConfig({
  root: 'src/console',
  base: './',
  plugins: [react(), partsOfPage],
  css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
  build: { outDir: '../../dist/console', emptyOutDir: true, sourcemap: false, target: 'es2024', assetsInlineLimit: 0 },
  logLevel: 'warn',
})
