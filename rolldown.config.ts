import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'rolldown'

const dispatchers = fileURLToPath(new URL('node_modules/undici/lib/dispatcher', import.meta.url))

/** The two classes of undici we use. Its index also loads fetch, caches, mocks and WebSockets: 5 MiB of an idle agent. */
const onlyDispatchers: Plugin = {
  name: 'only-dispatchers',
  resolveId: (source) => (source === 'undici' ? '\0undici' : undefined),
  load: (id) =>
    id === '\0undici'
      ? `export { default as Pool } from ${JSON.stringify(`${dispatchers}/pool.js`)}
         export { default as ProxyAgent } from ${JSON.stringify(`${dispatchers}/proxy-agent.js`)}`
      : undefined,
}

// A folder with nothing to install beside it. Each role is a file of its own, so that an agent keeps no simulator in memory, and
// minified, because source text stays there: an idle agent is 8 MiB smaller than with all in one file. `node --enable-source-maps`
// gives the stack traces their own lines back.
export default defineConfig({
  input: 'src/main/slipway.ts',
  platform: 'node',
  external: /^node:/,
  plugins: [onlyDispatchers],
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
