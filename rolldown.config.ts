import { defineConfig } from 'rolldown'

// One file and its map, nothing to install beside it. Not minified: stack traces and memory stay readable, and it is as fast.
export default defineConfig({
  input: 'src/main/slipway.ts',
  platform: 'node',
  external: /^node:/,
  output: {
    file: 'dist/slipway.mjs',
    format: 'esm',
    sourcemap: true,
    codeSplitting: false,
    banner: '#!/usr/bin/env node',
  },
})
