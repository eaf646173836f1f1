import { defineConfig } from 'rolldown'

// A folder with nothing to install beside it. Each role is a file of its own, so that an agent keeps no simulator in memory, and
// minified, because source text stays there. `node --enable-source-maps` gives the stack traces their own lines back.
export default defineConfig({
  input: 'src/main/slipway.ts',
  platform: 'node',
  external: /^node:/,
  output: {
    dir: 'dist',
    cleanDir: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    format: 'esm',
    sourcemap: true,
    minify: true,
    banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
  },
})
